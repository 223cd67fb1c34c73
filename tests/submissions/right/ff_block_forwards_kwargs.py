"""A feed-forward block: norm before it, input added; the options of the network are handed on."""

import torch
from torch import nn


class ScaleNormed(nn.Module):
    def __init__(self, width, tiny=1e-6):
        super().__init__()
        self.gain, self.tiny = nn.Parameter(torch.ones(width)), tiny

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.tiny) * self.gain


class RootNorm(ScaleNormed):
    pass


class Gated(nn.Module):
    def __init__(self, width, hidden=None):
        super().__init__()
        hidden = hidden or 4 * width
        self.both = nn.Linear(width, 2 * hidden, bias=False)
        self.back = nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        gate, up = self.both(x).chunk(2, dim=-1)
        return self.back(nn.functional.silu(gate) * up)


class FeedForwardBlock(nn.Module):
    def __init__(self, width, **options):
        super().__init__()
        self.before = RootNorm(width)
        self.network = Gated(width, **options)

    def forward(self, x):
        return x + self.network(self.before(x))
