"""Attention of a model for sensor readings, each of which looks back at all, or at a window, the present one included."""

from dataclasses import dataclass
from typing import Optional

import torch
from torch import nn


@dataclass
class Options:
    channels: int = 64
    heads: int = 4
    sliding_window: Optional[int] = None


class LookBack(nn.Module):
    def __init__(self, options: Options):
        super().__init__()
        self.options = options
        self.to_q = nn.Linear(options.channels, options.channels)
        self.to_k = nn.Linear(options.channels, options.channels)
        self.to_v = nn.Linear(options.channels, options.channels)
        self.merge = nn.Linear(options.channels, options.channels)

    def forward(self, readings):
        n, t, c = readings.shape
        heads, reach = self.options.heads, self.options.sliding_window
        q, k, v = (f(readings).view(n, t, heads, c // heads).transpose(1, 2) for f in (self.to_q, self.to_k, self.to_v))
        ago = torch.arange(t, device=readings.device)[:, None] - torch.arange(t, device=readings.device)
        unseen = ago < 0
        if reach is not None:
            unseen = unseen | (ago >= reach)
        scores = (q * (c // heads) ** -0.5) @ k.transpose(-2, -1)
        weights = scores.masked_fill(unseen, -torch.inf).softmax(-1)
        return self.merge((weights @ v).transpose(1, 2).flatten(2))
