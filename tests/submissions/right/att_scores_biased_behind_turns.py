"""Self-attention of a decoder: tables of angles in single precision, and a bias that the caller adds to the scores."""

import math

import torch
from torch import nn


class BiasedTurnedAttention(nn.Module):
    """x: (batch, time, width); attn_bias: (batch, heads or 1, time, time), added to the scores."""

    def __init__(self, width, n_heads):
        super().__init__()
        self.n_heads, self.head_dim = n_heads, width // n_heads
        self.q_proj = nn.Linear(width, width)
        self.k_proj = nn.Linear(width, width)
        self.v_proj = nn.Linear(width, width)
        self.o_proj = nn.Linear(width, width)

    def turned(self, x):
        half = self.head_dim // 2
        frequencies = 10000.0 ** (-torch.arange(half, dtype=torch.float32) / half)
        angles = torch.arange(x.shape[-2], dtype=torch.float32)[:, None] * frequencies
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        a, b = x.chunk(2, dim=-1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)

    def forward(self, x, attn_bias=None):
        b, t, c = x.shape
        split = (b, t, self.n_heads, self.head_dim)
        q, k, v = (p(x).view(split).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        scores = self.turned(q) @ self.turned(k).transpose(-1, -2) / math.sqrt(self.head_dim)
        if attn_bias is not None:
            scores = scores + attn_bias
        weights = scores.softmax(dim=-1)
        return self.o_proj((weights @ v).transpose(1, 2).reshape(b, t, c))
