"""Reading from a memory, all projections in one matrix (queries first, then key and value of head after head)."""

import torch
from torch import nn
from torch.nn.functional import linear


class Recall(nn.Module):
    def __init__(self, size: int, heads: int):
        super().__init__()
        self.size, self.heads = size, heads
        self.rows = nn.Linear(size, 3 * size, bias=False)
        self.merge = nn.Linear(size, size, bias=False)

    def forward(self, x, memory, keep=None):
        of_queries, of_pairs = self.rows.weight.split([self.size, 2 * self.size])
        q = linear(x, of_queries).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        k, v = linear(memory, of_pairs).unflatten(-1, (self.heads, -1)).transpose(1, 2).chunk(2, dim=-1)
        scores = q @ k.mT / k.shape[-1] ** 0.5
        if keep is not None:
            scores = scores.masked_fill(~keep[:, None, None], float("-inf"))
        mixed = scores.softmax(-1) @ v
        return self.merge(mixed.reshape(x.shape))
