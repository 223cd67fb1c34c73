"""Sentence encoder in the style of T5 1.1: every block gives back the offsets that it used, the next one takes them."""

from typing import Optional

import torch
import torch.nn as nn


class Rms(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(features))

    def forward(self, x):
        return x / torch.sqrt((x * x).mean(dim=-1, keepdim=True) + 1e-6) * self.gain


class Offsets(nn.Module):
    """One number for each head and each of 32 ranges of (key - query)."""

    EDGES = [12, 16, 23, 32, 46, 64, 91]  # beyond 8, ranges grow by the square root of two

    def __init__(self, heads: int):
        super().__init__()
        self.values = nn.Parameter(torch.randn(heads, 32) * 0.1)

    def forward(self, n: int):
        at = torch.arange(n, device=self.values.device)
        away = at[None] - at[:, None]
        far = torch.bucketize(away.abs(), torch.tensor(self.EDGES, device=at.device), right=True) + 8
        which = torch.where(away.abs() < 8, away.abs(), far) + 16 * (away > 0)
        return self.values[:, which]  # (heads, n, n)


class Look(nn.Module):
    def __init__(self, width: int, heads: int, owns_offsets: bool):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.back = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.offsets: Optional[Offsets] = Offsets(heads) if owns_offsets else None

    def forward(self, x, added=None, padded=None):
        if added is None:
            added = self.offsets(x.shape[1])
        q, k, v = (p(x).unflatten(-1, (self.heads, -1)).movedim(2, 1) for p in (self.query, self.key, self.value))
        logits = q @ k.mT + added  # nothing is divided by: the first weights are small instead
        if padded is not None:
            logits = logits.masked_fill(padded[:, None, None], float("-inf"))
        return self.back((logits.softmax(-1) @ v).movedim(1, 2).flatten(2)), added


class Block(nn.Module):
    def __init__(self, width: int, heads: int, hidden: int, first: bool):
        super().__init__()
        self.before_look, self.before_think = Rms(width), Rms(width)
        self.look = Look(width, heads, owns_offsets=first)
        self.gate, self.up, self.down = (
            nn.Linear(a, b, bias=False) for a, b in ((width, hidden), (width, hidden), (hidden, width))
        )

    def forward(self, x, added, padded):
        seen, added = self.look(self.before_look(x), added, padded)
        x = x + seen
        y = self.before_think(x)
        return x + self.down(nn.functional.gelu(self.gate(y), approximate="tanh") * self.up(y)), added


class SentenceEncoder(nn.Module):
    def __init__(self, width: int, heads: int, hidden: int, num_layers: int):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width, heads, hidden, first=i == 0) for i in range(num_layers))
        self.last = Rms(width)

    def forward(self, x, padded=None):
        """x (batch, n, width); padded (batch, n), True where there is no token."""
        added = None
        for block in self.blocks:
            x, added = block(x, added, padded)
        return self.last(x)
