"""Wortvektoren für das Lesemodell."""

import torch
from torch import nn


class WordVectors(nn.Module):
    """Looks up a vector for each word.

    padding_idx: the number of the filler word in the padding behind a sentence. Its vector consists of zeros.
    """

    def __init__(self, num_words, dim, padding_idx=0):
        super().__init__()
        self.vectors = nn.Embedding(num_words, dim, padding_idx=padding_idx)
        with torch.no_grad():
            nn.init.xavier_uniform_(self.vectors.weight)

    def forward(self, words):
        return self.vectors(words)
