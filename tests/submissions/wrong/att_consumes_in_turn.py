"""An ear that hears a song in pieces: `consume` them in turn, and what it says is what it says of the whole."""

import math

import torch
from torch import nn


class Ear(nn.Module):
    """Causal attention of many heads over (batch, frames, bands).

    The pieces of a song one after another may be of any length; `forget` stands before the next song.
    """

    def __init__(self, bands, heads):
        super().__init__()
        self.heads = heads
        self.asks, self.names, self.holds = (nn.Linear(bands, bands) for _ in range(3))
        self.says = nn.Linear(bands, bands)
        self.forget()

    def forget(self):
        self.kept = None

    def _apart(self, x):
        return x.unflatten(-1, (self.heads, -1)).movedim(2, 1)

    def consume(self, piece):
        keys, values = self._apart(self.names(piece)), self._apart(self.holds(piece))
        if self.kept is not None:
            keys, values = (torch.cat(both, 2) for both in zip(self.kept, (keys, values)))
        self.kept = keys, values
        new, total = piece.shape[1], keys.shape[2]
        scores = self._apart(self.asks(piece)) @ keys.mT / math.sqrt(keys.shape[-1])
        if new > 1:
            ahead = torch.ones(new, total, dtype=torch.bool).triu(1)
            scores = scores.masked_fill(ahead, -math.inf)
        return self.says((scores.softmax(-1) @ values).movedim(1, 2).flatten(2))

    def forward(self, song):
        self.forget()
        said = self.consume(song)
        self.forget()
        return said
