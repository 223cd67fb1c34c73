"""A stack of encoder layers; `norm_before` moves the norms, and then one more follows the last layer."""

import math

import torch
from torch import nn


class Heads(nn.Module):
    def __init__(self, width, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.merge = nn.Linear(width, width)

    def forward(self, x, hidden):
        q, k, v = (f(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for f in (self.query, self.key, self.value))
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        if hidden is not None:
            scores = scores.masked_fill(hidden[:, None, None], float("-inf"))
        return self.merge((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


class Floor(nn.Module):
    def __init__(self, width, n_heads, inner, norm_before):
        super().__init__()
        self.norm_before = norm_before
        self.heads = Heads(width, n_heads)
        self.ln_a = nn.LayerNorm(width)
        self.wide = nn.Linear(width, inner)
        self.narrow = nn.Linear(inner, width)
        self.ln_b = nn.LayerNorm(width)

    def mlp(self, x):
        return self.narrow(torch.relu(self.wide(x)))

    def forward(self, x, hidden):
        if self.norm_before:
            x = x + self.heads(self.ln_a(x), hidden)
            return x + self.mlp(self.ln_b(x))
        x = self.ln_a(x + self.heads(x, hidden))
        return self.ln_b(x + self.mlp(x))


class Encoder(nn.Module):
    """padding: (batch, length) bool, True where a token is padding."""

    def __init__(self, width=32, n_heads=4, inner=64, depth=2, norm_before=True):
        super().__init__()
        self.floors = nn.ModuleList(Floor(width, n_heads, inner, norm_before) for _ in range(depth))
        self.roof = nn.LayerNorm(width) if norm_before else None

    def forward(self, x, padding=None):
        for floor in self.floors:
            x = floor(x, padding)
        return x if self.roof is None else self.roof(x)
