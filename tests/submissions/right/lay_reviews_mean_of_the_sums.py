"""Grades reviews. The loop over the layers adds what they give; the only norm behind it is part of the grader."""

import torch
from torch import nn


class Mixing(nn.Module):
    def __init__(self, width: int, n_heads: int):
        super().__init__()
        assert width % n_heads == 0
        self.n_heads = n_heads
        self.before = nn.LayerNorm(width)
        self.q, self.k, self.v = (nn.Linear(width, width, bias=False) for _ in range(3))
        self.join = nn.Linear(width, width) if n_heads > 1 else nn.Identity()

    def forward(self, x):
        x = self.before(x)
        q, k, v = (f(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for f in (self.q, self.k, self.v))
        scores = q @ k.mT / q.shape[-1] ** 0.5
        return self.join((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


class Wide(nn.Module):
    def __init__(self, width: int, inner: int):
        super().__init__()
        self.before = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)

    def forward(self, x):
        return self.down(torch.relu(self.up(self.before(x))))


class ReviewEncoder(nn.Module):
    def __init__(self, vocab_size: int, max_len: int, width: int, n_heads: int, n_layers: int, inner: int, grades: int = 5):
        super().__init__()
        self.words = nn.Embedding(vocab_size, width)
        self.places = nn.Embedding(max_len, width)
        parts = ((Mixing(width, n_heads), Wide(width, inner)) for _ in range(n_layers))
        self.steps = nn.ModuleList(step for pair in parts for step in pair)
        self.grader = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, grades))

    def forward(self, ids):
        x = self.words(ids) + self.places.weight[: ids.shape[1]]
        for step in self.steps:
            x = x + step(x)
        return self.grader(x.mean(dim=1))
