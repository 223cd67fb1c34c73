"""Words for a picture. `begin()` before each picture, then `step(new_words, picture)` as often as there are new ones."""

import torch
from torch import nn


class _Keeping(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(width, width) for _ in range(4))
        self.kept = None

    def cut(self, t):
        return t.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x, keys, values, order=None):
        scores = self.cut(self.q(x)) @ self.cut(keys).transpose(2, 3) / (x.shape[-1] // self.heads) ** 0.5
        if order is not None:
            scores = scores.masked_fill(~order, float("-inf"))
        return self.o((scores.softmax(-1) @ self.cut(values)).transpose(1, 2).flatten(2))


class Floor(nn.Module):
    def __init__(self, width, heads, inner):
        super().__init__()
        self.words, self.picture = _Keeping(width, heads), _Keeping(width, heads)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.inner = nn.Sequential(nn.Linear(width, inner), nn.ReLU(), nn.Linear(inner, width))

    def forward(self, x, picture, order, keep):
        y = self.norms[0](x)
        k, v = self.words.k(y), self.words.v(y)
        if keep:
            if self.words.kept is not None:
                k, v = (torch.cat(pair, 1) for pair in zip(self.words.kept, (k, v)))
            self.words.kept = k, v
        x = x + self.words(y, k, v, order)
        if not keep:
            there = self.picture.k(picture), self.picture.v(picture)
        else:
            if self.picture.kept is None:
                self.picture.kept = self.picture.k(picture), self.picture.v(picture)
            there = self.picture.kept
        x = x + self.picture(self.norms[1](x), *there)
        return x + self.inner(self.norms[2](x))


class Caption(nn.Module):
    """caption(words, picture): words (B, T), picture (B, P, width) -> logits (B, T, vocabulary) of all words at once."""

    def __init__(self, vocab_size, width=32, heads=4, inner=64, depth=2, longest=64):
        super().__init__()
        self.table, self.places = nn.Embedding(vocab_size, width), nn.Embedding(longest, width)
        self.floors = nn.ModuleList(Floor(width, heads, inner) for _ in range(depth))
        self.end = nn.LayerNorm(width)
        self.before = 0

    def begin(self):
        self.before = 0
        for floor in self.floors:
            floor.words.kept = floor.picture.kept = None

    def all_of(self, words, picture, before, keep):
        n = words.shape[1]
        x = self.table(words) + self.places(torch.arange(before, before + n, device=words.device))
        order = torch.ones(n, before + n, dtype=torch.bool, device=words.device).tril(before)
        for floor in self.floors:
            x = floor(x, picture, order, keep)
        return self.end(x) @ self.table.weight.T

    def forward(self, words, picture):
        return self.all_of(words, picture, 0, keep=False)

    def step(self, words, picture):
        logits = self.all_of(words, picture, self.before, keep=True)
        self.before += words.shape[1]
        return logits
