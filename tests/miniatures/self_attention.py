"""A homework that is right, and knows nothing of this project: README.md shows it."""

import math

import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.qkv, self.out = nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, dim=-1))
        weights = torch.softmax(q / math.sqrt(q.shape[-1]) @ k.transpose(-2, -1), dim=-1)
        return self.out((weights @ v).transpose(1, 2).flatten(2))
