"""Ids to vectors, and vectors to logits, by one shared matrix."""

import torch
from torch import nn


class ThereAndBack(nn.Module):
    """One shared matrix: `forward` reads its rows, `logits` multiplies by them."""

    def __init__(self, vocab_size, width):
        super().__init__()
        self.table = nn.Embedding(vocab_size, width)
        self.out = nn.Linear(width, vocab_size, bias=False)
        self.out.weight = nn.Parameter(self.table.weight.detach().clone())

    def logits(self, hidden):
        return self.out(hidden)

    def forward(self, ids):
        return self.table(ids)
