"""Self-attention; the model has made the tables and hands them to every layer."""

import torch
from torch import nn


def turned(v, cos, sin):
    first, second = v.chunk(2, dim=-1)
    return v * cos + torch.cat((-second, first), dim=-1) * sin


class CausalAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.proj = nn.Linear(d_model, d_model)

    def forward(self, x, cos, sin, mask=None):
        """cos, sin: (tokens, head_dim); mask: True where a query may look."""
        b, t, d = x.shape
        q, k, v = (y.reshape(b, t, self.n_heads, -1).transpose(1, 2) for y in self.qkv(x).split(d, dim=-1))
        q, k = turned(q, cos[:t], sin[:t]), turned(k, cos[:t], sin[:t])
        scores = q @ k.mT
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        y = scores.softmax(dim=-1) @ v
        return self.proj(y.transpose(1, 2).reshape(b, t, d))
