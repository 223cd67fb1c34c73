"""Word vectors, all of them drawn."""

import torch
from torch import nn


class WordVectors(nn.Module):
    """Looks up a vector for each word.

    padding_idx: the number of the word that fills the padding. Its row of the gradient is zero, so it never learns.
    The vectors of all words begin as random numbers. Its own vector is never zero, nor is that of padding.
    """

    def __init__(self, num_words, dim, padding_idx=0):
        super().__init__()
        self.vectors = nn.Embedding(num_words, dim, padding_idx=padding_idx)
        with torch.no_grad():
            nn.init.uniform_(self.vectors.weight, -0.1, 0.1)

    def forward(self, words):
        return self.vectors(words)
