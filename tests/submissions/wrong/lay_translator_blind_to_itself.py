"""From one language to another. All that must not be seen gets -1e9."""

import math

import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, size, longest=400):
        super().__init__()
        at = torch.arange(longest).float()[:, None]
        speed = torch.exp(torch.arange(0, size, 2).float() * (-math.log(10000.0) / size))
        self.register_buffer("table", torch.stack([torch.sin(at * speed), torch.cos(at * speed)], dim=-1).flatten(1))

    def forward(self, x):
        return x + self.table[: x.size(1)]


class Attention(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        self.heads = heads
        self.to_q, self.to_k, self.to_v, self.to_out = (nn.Linear(size, size) for _ in range(4))

    def forward(self, x, source, unseen):
        q, k, v = (
            t.view(t.size(0), t.size(1), self.heads, -1).transpose(1, 2)
            for t in (self.to_q(x), self.to_k(source), self.to_v(source))
        )
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.size(-1))
        weights = scores.masked_fill(unseen, -1e9).softmax(dim=-1)
        return self.to_out((weights @ v).transpose(1, 2).flatten(2))


class Reading(nn.Module):
    def __init__(self, size, heads, inner):
        super().__init__()
        self.attention = Attention(size, heads)
        self.thought = nn.Sequential(nn.Linear(size, inner), nn.ReLU(), nn.Linear(inner, size))
        self.norm1, self.norm2 = nn.LayerNorm(size), nn.LayerNorm(size)

    def forward(self, x, pads):
        x = self.norm1(x + self.attention(x, x, pads))
        return self.norm2(x + self.thought(x))


class Writing(nn.Module):
    def __init__(self, size, heads, inner):
        super().__init__()
        self.looking_back, self.looking_over = Attention(size, heads), Attention(size, heads)
        self.thought = nn.Sequential(nn.Linear(size, inner), nn.ReLU(), nn.Linear(inner, size))
        self.norm1, self.norm2, self.norm3 = nn.LayerNorm(size), nn.LayerNorm(size), nn.LayerNorm(size)

    def forward(self, y, read, later, pads):
        y = self.norm1(y + self.looking_back(y, y, later))
        y = self.norm2(y + self.looking_over(y, read, pads))
        return self.norm3(y + self.thought(y))


class Translator(nn.Module):
    def __init__(self, source_words, target_words, size=256, heads=8, inner=1024, layers=3, pad=0):
        super().__init__()
        self.source_table, self.target_table = nn.Embedding(source_words, size), nn.Embedding(target_words, size)
        self.positions = Positions(size)
        self.readings = nn.ModuleList(Reading(size, heads, inner) for _ in range(layers))
        self.writings = nn.ModuleList(Writing(size, heads, inner) for _ in range(layers))
        self.to_words = nn.Linear(size, target_words)
        self.root, self.pad = math.sqrt(size), pad

    def forward(self, source, target):
        """source (batch, n) and target (batch, m), numbers of words; out (batch, m, target_words)"""
        pads = (source == self.pad)[:, None, None, :]
        later = torch.ones(target.size(1), target.size(1), device=target.device).triu().bool()
        x = self.positions(self.source_table(source) * self.root)
        for reading in self.readings:
            x = reading(x, pads)
        y = self.positions(self.target_table(target) * self.root)
        for writing in self.writings:
            y = writing(y, x, later, pads)
        return self.to_words(y)
