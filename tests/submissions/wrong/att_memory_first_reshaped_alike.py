"""A decoder looks at what the encoder made: keys and values come from the first argument, queries from the second."""

import torch
from torch import nn


class CrossHeads(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        self.heads = heads
        self.to_pairs = nn.Linear(size, 2 * size)
        self.to_queries = nn.Linear(size, size)
        self.out = nn.Linear(size, size)

    def forward(self, memory, x):
        samples, tokens, size = memory.shape
        keys, values = self.to_pairs(memory).view(samples, tokens, self.heads, -1).transpose(1, 2).chunk(2, dim=-1)
        queries = self.to_queries(x).view(samples, tokens, self.heads, -1).transpose(1, 2)
        weights = torch.softmax(queries @ keys.transpose(2, 3) * (size // self.heads) ** -0.5, dim=-1)
        return self.out((weights @ values).transpose(1, 2).reshape(samples, tokens, size))
