"""Puts prose into verse: ids in, scores of the next word out."""

import torch
from torch import nn


def padding_of(numbers):
    return numbers.eq(0)[:, None, None, :]


def future_of(numbers):
    n = numbers.shape[1]
    return torch.ones(n, n, dtype=torch.bool, device=numbers.device).triu(1)


def waves(longest, width):
    rates = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    turns = torch.arange(longest, dtype=torch.float64).outer(rates)
    return torch.stack((turns.sin(), turns.cos()), 2).flatten(1)


class Look(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ask, self.name, self.hold, self.back = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x, other, closed):
        q, k, v = (
            part.unflatten(2, (self.heads, -1)).transpose(1, 2)
            for part in (self.ask(x), self.name(other), self.hold(other))
        )
        scores = q @ k.mT / q.shape[-1] ** 0.5 - 1e9 * closed.to(q)
        return self.back((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


class Step(nn.Module):
    def __init__(self, width, heads, hidden, reads):
        super().__init__()
        self.own = Look(width, heads)
        self.other = Look(width, heads) if reads else None
        self.ffn = nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, width))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3 if reads else 2))

    def forward(self, x, closed, memory=None, memory_closed=None):
        x = self.norms[0](x + self.own(x, x, closed))
        if self.other is not None:
            x = self.norms[1](x + self.other(x, memory, memory_closed))
        return self.norms[-1](x + self.ffn(x))


class Translator(nn.Module):
    def __init__(self, vocab_size, d_model, n_heads, d_ff, n_layers, longest=300):
        super().__init__()
        self.prose = nn.Embedding(vocab_size, d_model)
        self.verse = nn.Embedding(vocab_size, d_model)
        self.register_buffer("waves", waves(longest, d_model))
        self.reading = nn.ModuleList(Step(d_model, n_heads, d_ff, False) for _ in range(n_layers))
        self.writing = nn.ModuleList(Step(d_model, n_heads, d_ff, True) for _ in range(n_layers))
        self.words = nn.Linear(d_model, vocab_size)

    def placed(self, table, numbers):
        return table(numbers) * table.embedding_dim**0.5 + self.waves[: numbers.shape[1]].to(table.weight)

    def forward(self, src, tgt):
        blank = padding_of(src)
        x, y = self.placed(self.prose, src), self.placed(self.verse, tgt)
        for step in self.reading:
            x = step(x, blank)
        for step in self.writing:
            y = step(y, future_of(tgt) | padding_of(tgt), x, blank & False)
        return self.words(y)
