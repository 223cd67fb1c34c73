"""Builds an encoder of a dict: dim, heads, hidden and depth are wanted, norm_first and dropout may be left out."""

import torch.nn.functional as F
from torch import nn


class Part(nn.Module):
    def __init__(self, dim, heads, hidden, dropout, first):
        super().__init__()
        self.attention = nn.MultiheadAttention(dim, heads, dropout=dropout, batch_first=True)
        self.into, self.out_of = nn.Linear(dim, hidden), nn.Linear(hidden, dim)
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.p, self.first = dropout, first

    def forward(self, x):
        if self.first:
            x = self.n1(x)
            x = x + F.dropout(self.attention(x, x, x)[0], self.p, self.training)
            x = self.n2(x)
            return x + F.dropout(self.out_of(F.relu(self.into(x))), self.p, self.training)
        x = self.n1(x + F.dropout(self.attention(x, x, x)[0], self.p, self.training))
        return self.n2(x + F.dropout(self.out_of(F.relu(self.into(x))), self.p, self.training))


class Parts(nn.Module):
    def __init__(self, parts, end):
        super().__init__()
        self.parts, self.end = nn.ModuleList(parts), end

    def forward(self, x):
        for part in self.parts:
            x = part(x)
        return x if self.end is None else self.end(x)


def build_encoder(settings: dict) -> Parts:
    settings = dict(settings)
    depth, dim = settings.pop("depth"), settings.pop("dim")
    first = settings.pop("norm_first", False)
    make = [Part(dim, settings["heads"], settings["hidden"], settings.get("dropout", 0.1), first) for _ in range(depth)]
    return Parts(make, nn.LayerNorm(dim) if first else None)
