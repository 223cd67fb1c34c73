import math

import torch
from torch import nn


class KVCache:
    """Keys and values of all layers, by their index."""

    def __init__(self):
        self.kept = {}

    def update(self, k, v, layer_idx):
        if layer_idx in self.kept:
            before_k, before_v = self.kept[layer_idx]
            k, v = torch.cat([before_k, k], dim=2), torch.cat([before_v, v], dim=2)
        self.kept[layer_idx] = (k, v)
        return k, v


class Attention(nn.Module):
    def __init__(self, hidden_size: int, num_heads: int, layer_idx: int | None = None):
        super().__init__()
        self.num_heads, self.layer_idx = num_heads, layer_idx
        self.q_proj = nn.Linear(hidden_size, hidden_size)
        self.k_proj = nn.Linear(hidden_size, hidden_size)
        self.v_proj = nn.Linear(hidden_size, hidden_size)
        self.o_proj = nn.Linear(hidden_size, hidden_size)

    def forward(self, hidden_states, attention_mask=None, past_key_values: KVCache | None = None):
        B, T, C = hidden_states.shape
        q, k, v = (
            proj(hidden_states).view(B, T, self.num_heads, -1).transpose(1, 2)
            for proj in (self.q_proj, self.k_proj, self.v_proj)
        )
        if past_key_values is not None:
            k, v = past_key_values.update(k, v, self.layer_idx)
        scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[-1])
        if attention_mask is not None:
            scores = scores + attention_mask
        weights = scores.softmax(dim=-1)
        return self.o_proj((weights @ v).transpose(1, 2).reshape(B, T, C)), weights
