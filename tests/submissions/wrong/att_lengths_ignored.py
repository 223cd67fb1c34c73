"""Attention over padded batches: lengths says how many tokens of each sample are real."""

import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, hidden_size, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.qkv = nn.Linear(hidden_size, 3 * hidden_size)
        self.proj = nn.Linear(hidden_size, hidden_size)

    def forward(self, x, lengths=None):
        q, k, v = (t.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, dim=-1))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        if lengths is not None:
            real = torch.arange(x.shape[1]) < lengths[:, None]
            scores.masked_fill(~real[:, None, None], float("-inf"))
        return self.proj((torch.softmax(scores, dim=-1) @ v).transpose(1, 2).flatten(2))
