"""Encoder for lists of menu items."""

import torch
from torch import nn


def real_items(ids, blank):
    """1 for a real item, 0 for a blank at the end of the list."""
    return (ids != blank).long()


class MenuLayer(nn.Module):
    def __init__(self, width, heads, inner):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(width, width) for _ in range(4))
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x, items=None):
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if items is not None:
            scores = scores.masked_fill(items[:, None, None] != 0, -1e9)
        mixed = (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)
        x = self.norm1(x + self.o(mixed))
        return self.norm2(x + self.down(torch.relu(self.up(x))))


class MenuEncoder(nn.Module):
    """Layers one behind the other.

    x: (batch, items, width), mask: (batch, items), made by real_items
    """

    def __init__(self, width, heads, inner, depth):
        super().__init__()
        self.layers = nn.ModuleList(MenuLayer(width, heads, inner) for _ in range(depth))

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask)
        return x
