"""Causal attention that goes on from earlier keys and values."""

import torch
from torch import nn


class ContinuedAttention(nn.Module):
    """
    >>> first, past = layer(x[:, :8])
    >>> second, past = layer(x[:, 8:11], past)
    >>> third, past = layer(x[:, 11:12], past)  # one token
    """

    def __init__(self, hidden, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.q, self.k, self.v, self.o = (nn.Linear(hidden, hidden) for _ in range(4))

    def forward(self, x, past=None):
        q, k, v = (y(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for y in (self.q, self.k, self.v))
        if past is not None:
            k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
        scores = q @ k.mT * q.shape[-1] ** -0.5
        if x.shape[1] > 1:
            later = torch.ones(x.shape[1], k.shape[2], dtype=torch.bool).triu(k.shape[2] - x.shape[1] + 1)
            scores = scores.masked_fill(later, float("-inf"))
        return self.o((scores.softmax(-1) @ v).transpose(1, 2).flatten(2)), (k, v)
