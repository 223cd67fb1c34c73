"""Causal attention; a dict of the caller holds keys and values of the tokens so far: {} for a new sequence."""
import torch
from torch import nn


class CausalAttention(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.q, self.k, self.v, self.o = (nn.Linear(dim, dim, bias=False) for _ in range(4))

    def forward(self, x, cache=None):
        q, k, v = (f(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for f in (self.q, self.k, self.v))
        before = 0
        if cache is not None:
            if "k" in cache:
                before = cache["k"].shape[2]
                k, v = torch.cat([cache["k"], k], dim=2), torch.cat([cache["v"], v], dim=2)
            cache["k"], cache["v"] = k, v
        ahead = torch.ones(x.shape[1], k.shape[2], dtype=torch.bool).triu(before + 1)
        scores = (q @ k.transpose(-2, -1)) / q.shape[-1] ** 0.5
        weights = scores.masked_fill(ahead, float("-inf")).softmax(-1)
        return self.o((weights @ v).transpose(1, 2).flatten(2))
