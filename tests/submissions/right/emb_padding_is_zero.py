import math

import torch
from torch import nn

SPECIAL = ["<pad>", "<unk>"]


def numbered(words):
    return {word: i for i, word in enumerate(SPECIAL + sorted(set(words)))}


class WordVectors(nn.Module):
    """Rows times the root of their width, with sines and cosines; rows of id 0 are left as they are."""

    def __init__(self, n_words, dim, longest=128):
        super().__init__()
        self.rows = nn.Embedding(n_words, dim, padding_idx=0)
        self.factor = math.sqrt(dim)
        angles = torch.arange(longest)[:, None] / 10000 ** (torch.arange(0, dim, 2, dtype=torch.float64) / dim)
        self.register_buffer("places", torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:, :dim])

    def forward(self, ids):
        rows = self.rows(ids) * self.factor
        return rows + self.places[: ids.shape[1]].to(rows)
