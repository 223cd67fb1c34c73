"""Learned positions as fairseq counts them, for ids with time first: padding keeps the row of padding."""

import torch
from torch import nn


class CountedPositions(nn.Embedding):
    """ids (T, B) -> rows (T, B, C); words are numbered pad + 1, pad + 2, …, and padding has number pad."""

    def __init__(self, longest, width, pad):
        super().__init__(longest + pad + 1, width, pad)
        self.longest = longest

    def forward(self, ids):
        if len(ids) > self.longest:
            raise ValueError(f"{len(ids)} words, {self.longest} positions")
        words = (ids != self.padding_idx).long()
        return super().forward(words.cumsum(0) * words + self.padding_idx)
