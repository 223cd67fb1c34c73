import math

import torch
from torch import nn


class SignalPositions(nn.Module):
    """Sine and cosine positions for sensor windows.

    x and the result: (batch, time, channels)
    """

    def __init__(self, channels, longest=2000):
        super().__init__()
        steps = torch.arange(longest).float().unsqueeze(1)
        rates = torch.exp(-math.log(10000.0) * torch.arange(0, channels, 2) / channels)
        waves = torch.zeros(longest, 1, channels)
        waves[:, 0, 0::2] = torch.sin(steps * rates)
        waves[:, 0, 1::2] = torch.cos(steps * rates)
        self.register_buffer("waves", waves)

    def forward(self, x):
        return x + self.waves[: x.size(0)]
