"""Attention of a translation model. In decoding the memory stays, and so do its keys and values: a dict keeps them."""

import torch
from torch import nn


class CrossAttention(nn.Module):
    def __init__(self, width: int, n_heads: int):
        super().__init__()
        self.n_heads = n_heads
        self.to_q = nn.Linear(width, width, bias=False)
        self.to_k = nn.Linear(width, width, bias=False)
        self.to_v = nn.Linear(width, width, bias=False)
        self.to_out = nn.Linear(width, width, bias=False)

    def heads(self, x):
        return x.view(x.size(0), x.size(1), self.n_heads, -1).transpose(1, 2)

    def forward(self, q, k, v, mask=None, cache=None):
        """mask: (B, L, S), True where a key is hidden. cache: {} at the first step."""
        if cache is None or "k" not in cache:
            k, v = self.heads(self.to_k(k)), self.heads(self.to_v(v))
            if cache is not None:
                cache.update(k=k, v=v)
        else:
            k, v = cache["k"], cache["v"]
        q = self.heads(self.to_q(q)) * (q.size(-1) // self.n_heads) ** -0.5
        scores = q @ k.mT
        if mask is not None:
            scores = scores.masked_fill(mask[:, None], float("-inf"))
        return self.to_out((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
