"""Decoder from my notes on The Annotated Transformer: norm first, and the norm divides by deviation + epsilon."""
import copy
import math

import torch
from torch import nn


class Standardize(nn.Module):
    def __init__(self, width, epsilon=1e-6):
        super().__init__()
        self.stretch = nn.Parameter(torch.ones(width))
        self.lift = nn.Parameter(torch.zeros(width))
        self.epsilon = epsilon

    def forward(self, x):
        centred = x - x.mean(dim=-1, keepdim=True)
        return centred / (x.std(dim=-1, keepdim=True) + self.epsilon) * self.stretch + self.lift


class Heads(nn.Module):
    def __init__(self, width, count, dropout):
        super().__init__()
        self.count = count
        self.query, self.key, self.value, self.join = (nn.Linear(width, width) for _ in range(4))
        self.dropout = nn.Dropout(dropout)

    def apart(self, x):
        return x.unflatten(-1, (self.count, -1)).transpose(1, 2)

    def forward(self, x, source, seen=None):
        q, k, v = self.apart(self.query(x)), self.apart(self.key(source)), self.apart(self.value(source))
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.size(-1))
        if seen is not None:
            scores = scores.masked_fill(~seen, -math.inf)
        mixed = self.dropout(scores.softmax(dim=-1)) @ v
        return self.join(mixed.transpose(1, 2).flatten(2))


class DecoderLayer(nn.Module):
    def __init__(self, width, heads, hidden, dropout=0.1):
        super().__init__()
        self.own, self.other = Heads(width, heads, dropout), Heads(width, heads, dropout)
        self.network = nn.Sequential(
            nn.Linear(width, hidden), nn.ReLU(), nn.Dropout(dropout), nn.Linear(hidden, width)
        )
        self.norms = nn.ModuleList(Standardize(width) for _ in range(3))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, memory, memory_mask=None):
        """memory_mask: (batch, source), True where there is a token."""
        earlier = torch.ones(x.size(1), x.size(1), dtype=torch.bool, device=x.device).tril()
        seen = None if memory_mask is None else memory_mask[:, None, None, :]
        n = self.norms[0](x)
        x = x + self.dropout(self.own(n, n, earlier))
        x = x + self.dropout(self.other(self.norms[1](x), memory, seen))
        return x + self.dropout(self.network(self.norms[2](x)))


class Decoder(nn.Module):
    def __init__(self, width, heads, hidden, num_layers, dropout=0.1):
        super().__init__()
        layer = DecoderLayer(width, heads, hidden, dropout)
        self.layers = nn.ModuleList(copy.deepcopy(layer) for _ in range(num_layers))
        self.norm = Standardize(width)

    def forward(self, x, memory, memory_mask=None):
        for layer in self.layers:
            x = layer(x, memory, memory_mask)
        return self.norm(x)
