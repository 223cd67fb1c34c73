import math

import torch
from torch import nn


class Clock(nn.Module):
    """Adds sines and cosines of the time to x."""

    def __init__(self, d, longest=500):
        super().__init__()
        time = torch.arange(longest)[:, None]
        rate = torch.exp(torch.arange(0, d, 2) * (-math.log(10000.0) / d))
        table = torch.zeros(longest, 1, d)
        table[:, 0, 0::2] = torch.sin(time * rate)
        table[:, 0, 1::2] = torch.cos(time * rate)
        self.register_buffer("table", table)

    def forward(self, x):
        # x: bs x time x d
        return x + self.table[: x.size(0)]
