"""Sinusoidal positions. The table is made for 100 tokens, and made longer when more of them come."""

import math

import torch
from torch import nn


def sines(start: int, stop: int, dim: int) -> torch.Tensor:
    at = torch.arange(start, stop, dtype=torch.float64).unsqueeze(1)
    rate = torch.exp(torch.arange(0, dim, 2, dtype=torch.float64) * (-math.log(10000.0) / dim))
    return torch.stack([torch.sin(at * rate), torch.cos(at * rate)], dim=-1).flatten(1)


class SinusoidalPositions(nn.Module):
    def __init__(self, dim: int):
        super().__init__()
        self.dim = dim
        self.register_buffer("pe", sines(0, 100, dim))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x: (batch, tokens, dim)"""
        have, want = self.pe.size(0), x.size(1)
        if want > have:
            last = have - 1
            self.pe = torch.cat([self.pe, sines(last, last + want - have, self.dim)])
        return x + self.pe[:want].to(x.dtype)
