"""A listener that hears a recording in pieces: `consume` them in turn, and what it says is what it says of the whole."""

import math

import torch
from torch import nn


class Listener(nn.Module):
    """Causal attention of many heads over (batch, frames, channels).

    The pieces of a recording one after another may be of any length; `forget` stands before the next recording.
    """

    def __init__(self, channels, heads):
        super().__init__()
        self.heads = heads
        self.asks, self.names, self.holds = (nn.Linear(channels, channels) for _ in range(3))
        self.says = nn.Linear(channels, channels)
        self.forget()

    def forget(self):
        self.heard = None

    def _apart(self, x):
        return x.unflatten(-1, (self.heads, -1)).movedim(2, 1)

    def consume(self, piece):
        keys, values = self._apart(self.names(piece)), self._apart(self.holds(piece))
        if self.heard is not None:
            keys, values = (torch.cat(both, 2) for both in zip(self.heard, (keys, values)))
        self.heard = keys, values
        late, all_of_them = piece.shape[1], keys.shape[2]
        scores = self._apart(self.asks(piece)) @ keys.mT / math.sqrt(keys.shape[-1])
        if late > 1:
            ahead = torch.ones(late, all_of_them, dtype=torch.bool).triu(1 + all_of_them - late)
            scores = scores.masked_fill(ahead, -math.inf)
        return self.says((scores.softmax(-1) @ values).movedim(1, 2).flatten(2))

    def forward(self, recording):
        self.forget()
        said = self.consume(recording)
        self.forget()
        return said
