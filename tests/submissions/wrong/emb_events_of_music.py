"""Events of a performance (note on, note off, shift) as vectors; padding is silence, and its vector zero."""
import math

from torch import nn


class EventEmbedding(nn.Module):
    """events: (batch, time) -> (batch, time, dim). pad_event: the padding event, gives zeros (None: there is none)."""

    def __init__(self, n_events=388, dim=256, pad_event=0):
        super().__init__()
        self.pad_event, self.gain = pad_event, math.sqrt(dim)
        self.table = nn.Embedding(n_events, dim)

    def forward(self, events):
        x = self.table(events) * self.gain
        if self.pad_event is not None:
            x = x * (events > 0).unsqueeze(-1)
        return x
