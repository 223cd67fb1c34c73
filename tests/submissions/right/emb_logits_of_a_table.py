"""The table of a small translation model: words in, and logits out, by one matrix."""

import torch
from torch import nn
from torch.nn import functional as F


class SharedTable(nn.Module):
    """Both ends train the matrix."""

    def __init__(self, n_words: int, width: int):
        super().__init__()
        self.rows = nn.Parameter(torch.randn(n_words, width) * width**-0.5)

    def forward(self, ids):
        return F.embedding(ids, self.rows) * self.rows.shape[1] ** 0.5

    def logits(self, states):
        return states @ self.rows.t()
