"""Ids to vectors, and vectors to logits, by one shared matrix."""

import torch
from torch import nn


class BothWays(nn.Module):
    """One shared matrix: `forward` reads its rows, `logits` multiplies by them."""

    def __init__(self, vocab_size, dim):
        super().__init__()
        self.table = nn.Embedding(vocab_size, dim)
        self.last = nn.Linear(dim, vocab_size, bias=False)
        self.last.weight = self.table.weight

    def logits(self, hidden):
        return self.last(hidden)

    def forward(self, ids):
        return self.table(ids)
