"""Self-attention as a server runs it: a cache with room for a few users, which the caller tells where they are."""

from typing import NamedTuple

import torch
from torch import nn


class ServerConfig(NamedTuple):
    width: int
    num_heads: int
    max_batch_size: int = 4
    max_seq_len: int = 128


class ServedAttention(nn.Module):
    """Causal; for inference alone. ``start_pos``: how many tokens of each user the cache holds already."""

    def __init__(self, config: ServerConfig):
        super().__init__()
        self.num_heads = config.num_heads
        self.head_dim = config.width // config.num_heads
        self.q_proj = nn.Linear(config.width, config.width, bias=False)
        self.k_proj = nn.Linear(config.width, config.width, bias=False)
        self.v_proj = nn.Linear(config.width, config.width, bias=False)
        self.o_proj = nn.Linear(config.width, config.width, bias=False)
        room = torch.zeros(config.max_batch_size, config.num_heads, config.max_seq_len, self.head_dim)
        self.register_buffer("cache_k", room.clone(), persistent=False)
        self.register_buffer("cache_v", room.clone(), persistent=False)

    def heads(self, x):
        return x.unflatten(-1, (self.num_heads, self.head_dim)).movedim(-2, 1)

    @torch.inference_mode()
    def forward(self, x, start_pos: int = 0):
        users, tokens, _ = x.shape
        end = start_pos + tokens
        self.cache_k[:users, :, start_pos:end] = self.heads(self.k_proj(x))
        self.cache_v[:users, :, start_pos:end] = self.heads(self.v_proj(x))
        keys, values = self.cache_k[:users, :, :end], self.cache_v[:users, :, :end]
        scores = self.heads(self.q_proj(x)) @ keys.mT * self.head_dim**-0.5
        at = torch.arange(end, device=x.device)
        scores = scores.masked_fill(at > at[start_pos:, None], float("-inf"))
        return self.o_proj((scores.softmax(-1) @ values).movedim(1, -2).flatten(-2))
