"""Phi-style language model: attention and MLP side by side behind one LayerNorm, part of each head rotated."""

import torch
import torch.nn.functional as F
from torch import nn


def rotate(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


class PhiBlock(nn.Module):
    def __init__(self, hidden_size, num_heads, intermediate_size, partial_rotary_factor):
        super().__init__()
        if not 0.0 < partial_rotary_factor <= 1.0:
            raise ValueError("partial_rotary_factor is a share of the head")
        self.num_heads, self.head_dim = num_heads, hidden_size // num_heads
        self.rotary_ndims = int(partial_rotary_factor * self.head_dim)
        if self.rotary_ndims % 2:
            raise ValueError("an odd number of features cannot be rotated")
        self.input_layernorm = nn.LayerNorm(hidden_size)
        self.q_proj = nn.Linear(hidden_size, hidden_size)
        self.k_proj = nn.Linear(hidden_size, hidden_size)
        self.v_proj = nn.Linear(hidden_size, hidden_size)
        self.dense = nn.Linear(hidden_size, hidden_size)
        self.fc1 = nn.Linear(hidden_size, intermediate_size)
        self.fc2 = nn.Linear(intermediate_size, hidden_size)

    def turned(self, x):
        r = self.rotary_ndims
        steps = 10000.0 ** (-torch.arange(0, r, 2, device=x.device, dtype=x.dtype) / r)
        angles = torch.arange(x.shape[-2], device=x.device, dtype=x.dtype)[:, None] * steps
        return torch.cat([rotate(x[..., :r], angles.cos(), angles.sin()), x[..., r:]], dim=-1)

    def forward(self, x):
        B, T, C = x.shape
        n = self.input_layernorm(x)
        q, k, v = (
            proj(n).view(B, T, self.num_heads, self.head_dim).transpose(1, 2)
            for proj in (self.q_proj, self.k_proj, self.v_proj)
        )
        y = F.scaled_dot_product_attention(self.turned(q), self.turned(k), v, is_causal=True)
        y = self.dense(y.transpose(1, 2).reshape(B, T, C))
        return x + y + self.fc2(F.gelu(self.fc1(n), approximate="tanh"))


class PhiLM(nn.Module):
    def __init__(self, vocab_size, hidden_size, num_heads, num_layers, intermediate_size, partial_rotary_factor=0.5):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab_size, hidden_size)
        self.layers = nn.ModuleList(
            PhiBlock(hidden_size, num_heads, intermediate_size, partial_rotary_factor) for _ in range(num_layers)
        )
        self.final_layernorm = nn.LayerNorm(hidden_size)
        self.lm_head = nn.Linear(hidden_size, vocab_size)

    def forward(self, input_ids):
        x = self.embed_tokens(input_ids)
        for layer in self.layers:
            x = layer(x)
        return self.lm_head(self.final_layernorm(x))
