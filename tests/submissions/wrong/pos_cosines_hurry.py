"""Encodes places in a text (batch, time, width) by waves."""

import torch
from torch import nn


class Waves(nn.Module):
    def __init__(self, width, max_len=256):
        super().__init__()
        place = torch.arange(max_len, dtype=torch.float64)[:, None]
        rate = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
        waves = torch.empty(max_len, width, dtype=torch.float64)
        waves[:, ::2] = (place * rate).sin()
        waves[:, 1::2] = (place * rate * 1.05).cos()
        self.register_buffer("waves", waves)

    def forward(self, x):
        return x + self.waves[: x.size(1)].to(x)
