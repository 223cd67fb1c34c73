"""Causal attention that goes on where it stopped: keys and values lie in an object with room for all tokens.

    kept = KeyValueCache(batch, room, heads, width)
    a = attention(x[:, :5], kept, 0)
    b = attention(x[:, 5:6], kept, 5)
"""
import torch
from torch import nn


class KeyValueCache:
    def __init__(self, batch, room, heads, width):
        self.keys = torch.zeros(batch, heads, room, width)
        self.values = torch.zeros(batch, heads, room, width)

    def insert(self, k, v, at):
        until = at + k.shape[2]
        self.keys[:, :, at:until], self.values[:, :, at:until] = k, v
        return self.keys[:, :, :until], self.values[:, :, :until]


class Attention(nn.Module):
    def __init__(self, features, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(features, 3 * features), nn.Linear(features, features)

    def forward(self, x, cache=None, start=0):
        """x (batch, tokens, features), the first of them at ``start``; cache: of the tokens before."""
        b, t, _ = x.shape
        q, k, v = (z.view(b, t, self.heads, -1).transpose(1, 2) for z in self.qkv(x).chunk(3, dim=-1))
        if cache is not None:
            k, v = cache.insert(k, v, start)
        late = torch.arange(k.shape[2]) > torch.arange(t)[:, None]
        scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(late, float("-inf"))
        return self.out((scores.softmax(dim=-1) @ v).transpose(1, 2).flatten(2))
