"""Attention with a bias for relative distance, which goes in through the mask."""
import torch
from torch import nn


class BiasedAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.queries, self.keys, self.values, self.out = (nn.Linear(dim, dim) for _ in range(4))

    def forward(self, query, key, value, mask=None):
        """mask: a bias that is added to the scores, (L, S); -inf hides."""
        q, k, v = (
            layer(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for layer, x in ((self.queries, query), (self.keys, key), (self.values, value))
        )
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(mask == float("-inf"), float("-inf"))
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
