"""Cross-attention by a single matrix: the rows of all queries, then for each head those of its key and its value."""

import torch
from torch import nn
from torch.nn.functional import linear


class Lookup(nn.Module):
    def __init__(self, size: int, heads: int):
        super().__init__()
        self.size, self.heads = size, heads
        self.fused = nn.Linear(size, 3 * size, bias=False)
        self.back = nn.Linear(size, size, bias=False)

    def forward(self, x, memory, keep=None):
        of_queries, of_rest = self.fused.weight.split([self.size, 2 * self.size])
        q = linear(x, of_queries).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        k, v = linear(memory, of_rest).unflatten(-1, (self.heads, -1)).transpose(1, 2).chunk(2, dim=-1)
        scores = q @ k.mT / k.shape[-1] ** 0.5
        if keep is not None:
            scores = scores.masked_fill(~keep[:, None, None], float("-inf"))
        mixed = scores.softmax(-1) @ v
        return self.back(mixed.transpose(1, 2).flatten(2))
