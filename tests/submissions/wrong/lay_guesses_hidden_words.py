"""Guesses words that were hidden in a text, from both sides, as BERT is trained to.

All modules are handed one object, `z`, that has the settings; `settings()` makes one.
"""

import types

import torch
import torch.nn.functional as F
from torch import nn


def settings(**changed):
    usual = {"words": 8000, "width": 128, "kinds": 2, "longest": 128, "depth": 6, "heads": 8, "inner": 512, "drop": 0.1}
    return types.SimpleNamespace(**{**usual, **changed})


class Reader(nn.Module):
    """One layer: attention to all words that are there, then a network, each with a norm behind it."""

    def __init__(self, z):
        super().__init__()
        self.z = z
        self.qkv = nn.Linear(z.width, 3 * z.width)
        self.back = nn.Linear(z.width, z.width)
        self.wide, self.narrow = nn.Linear(z.width, z.inner), nn.Linear(z.inner, z.width)
        self.after_reading, self.after_thinking = nn.LayerNorm(z.width), nn.LayerNorm(z.width)
        self.drop = nn.Dropout(z.drop)

    def forward(self, x, there):
        n, length, width = x.shape
        q, k, v = self.qkv(x).view(n, length, 3, self.z.heads, -1).permute(2, 0, 3, 1, 4)
        scores = torch.einsum("nhld,nhsd->nhls", q, k) / q.shape[-1] ** 0.5
        scores = scores.masked_fill(~there[:, None, None, :], float("-inf"))
        read = F.dropout(scores.softmax(-1), self.z.drop) @ v
        x = self.after_reading(x + self.drop(self.back(read.transpose(1, 2).reshape(n, length, width))))
        return self.after_thinking(x + self.drop(self.narrow(F.gelu(self.wide(x)))))


class HiddenWords(nn.Module):
    def __init__(self, z):
        super().__init__()
        self.word, self.place = nn.Embedding(z.words, z.width), nn.Embedding(z.longest, z.width)
        self.kind = nn.Embedding(z.kinds, z.width)
        self.start = nn.Sequential(nn.LayerNorm(z.width), nn.Dropout(z.drop))
        self.readers = nn.ModuleList(Reader(z) for _ in range(z.depth))
        self.before_guess = nn.Sequential(nn.Linear(z.width, z.width), nn.GELU(), nn.LayerNorm(z.width))
        self.bias = nn.Parameter(torch.zeros(z.words))

    def forward(self, ids, kinds=None, there=None):
        kinds = torch.zeros_like(ids) if kinds is None else kinds
        there = torch.ones_like(ids, dtype=torch.bool) if there is None else there.bool()
        x = self.start(self.word(ids) + self.place.weight[: ids.shape[1]] + self.kind(kinds))
        for reader in self.readers:
            x = reader(x, there)
        return F.linear(self.before_guess(x), self.word.weight, self.bias)
