"""Attention over what came before: ``past`` has the keys and values of earlier calls, and every call returns them."""

import math

import torch
from torch import nn


class PastAttention(nn.Module):
    def __init__(self, heads: int, dims: int, dropout: float = 0.1):
        super().__init__()
        self.heads = heads
        self.proj_q, self.proj_k, self.proj_v, self.out = (nn.Linear(dims, dims) for _ in range(4))
        self.dropout = nn.Dropout(dropout)

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, q, k, v, past=None, mask=None):
        q, k, v = self.proj_q(q), self.proj_k(k), self.proj_v(v)
        if past is not None:
            k, v = torch.cat([past[0], k], dim=1), torch.cat([past[1], v], dim=1)
        scores = self.split(q) @ self.split(k).transpose(-2, -1) / math.sqrt(q.size(-1) // self.heads)
        if mask is not None:  # True: not to be seen
            scores = scores.masked_fill(mask.unsqueeze(1), float("-inf"))
        x = self.dropout(scores.softmax(dim=-1)) @ self.split(v)
        return self.out(x.transpose(1, 2).flatten(2)), (k, v)
