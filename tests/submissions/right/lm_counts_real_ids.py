"""A small OPT: learned positions of the ids that are no padding, so that a batch may be padded on either side."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class OptConfig:
    vocab_size: int = 300
    hidden_size: int = 48
    ffn_dim: int = 192
    num_hidden_layers: int = 3
    num_attention_heads: int = 4
    max_position_embeddings: int = 128


class OptAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.num_heads = config.num_attention_heads
        self.q_proj = nn.Linear(config.hidden_size, config.hidden_size)
        self.k_proj = nn.Linear(config.hidden_size, config.hidden_size)
        self.v_proj = nn.Linear(config.hidden_size, config.hidden_size)
        self.out_proj = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, x, allowed):
        parts = (f(x).unflatten(-1, (self.num_heads, -1)) for f in (self.q_proj, self.k_proj, self.v_proj))
        q, k, v = (part.transpose(1, 2) for part in parts)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
        return self.out_proj(y.transpose(1, 2).flatten(2))


class OptLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.self_attn = OptAttention(config)
        self.self_attn_layer_norm = nn.LayerNorm(config.hidden_size)
        self.fc1 = nn.Linear(config.hidden_size, config.ffn_dim)
        self.fc2 = nn.Linear(config.ffn_dim, config.hidden_size)
        self.final_layer_norm = nn.LayerNorm(config.hidden_size)

    def forward(self, x, allowed):
        x = x + self.self_attn(self.self_attn_layer_norm(x), allowed)
        return x + self.fc2(F.relu(self.fc1(self.final_layer_norm(x))))


class OptForCausalLM(nn.Module):
    """Token ids (batch, length) to logits (batch, length, vocab_size); attention_mask: 1 for a token, 0 for padding."""

    def __init__(self, config):
        super().__init__()
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.embed_positions = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.layers = nn.ModuleList(OptLayer(config) for _ in range(config.num_hidden_layers))
        self.final_layer_norm = nn.LayerNorm(config.hidden_size)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.lm_head.weight = self.embed_tokens.weight

    def forward(self, input_ids, attention_mask=None):
        if attention_mask is None:
            attention_mask = torch.ones_like(input_ids)
        places = (attention_mask.long().cumsum(-1) - 1).clamp(min=0)
        length = input_ids.shape[1]
        causal = torch.ones(length, length, dtype=torch.bool, device=input_ids.device).tril()
        itself = torch.eye(length, dtype=torch.bool, device=input_ids.device)
        allowed = (causal & attention_mask[:, None, None, :].bool()) | itself  # padding on the left sees itself
        x = self.embed_tokens(input_ids) + self.embed_positions(places)
        for layer in self.layers:
            x = layer(x, allowed)
        return self.lm_head(self.final_layer_norm(x))
