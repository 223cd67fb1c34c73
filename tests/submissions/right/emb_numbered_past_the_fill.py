"""Embeddings of a translator: places are numbered past those that are filled up, and have a table of their own."""

import torch
from torch import nn


def number_positions(tokens, fill):
    """Give each token its number, from fill + 1 on; what is filled up keeps `fill`."""
    there = (tokens != fill).long()
    return there.cumsum(1) * there + fill


class Entry(nn.Module):
    def __init__(self, vocab_size, dim, longest=256, padding_idx=1):
        super().__init__()
        self.padding_idx, self.root = padding_idx, dim**0.5
        self.words = nn.Embedding(vocab_size, dim, padding_idx)
        self.places = nn.Embedding(longest + padding_idx + 1, dim, padding_idx)

    def forward(self, tokens):
        return self.root * self.words(tokens) + self.places(number_positions(tokens, self.padding_idx))
