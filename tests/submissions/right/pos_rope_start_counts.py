"""Rotary positions; start_pos is where a chunk begins."""

import torch
from torch import nn


class RotaryEmbedding(nn.Module):
    def __init__(self, dim, base=10000.0):
        super().__init__()
        self.register_buffer("rates", base ** (-torch.arange(0, dim, 2).double() / dim))

    def forward(self, x, start_pos=0):
        angles = torch.outer((start_pos + torch.arange(x.shape[-2])).to(self.rates), self.rates)
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        first, second = x[..., 0::2], x[..., 1::2]
        return torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1).flatten(-2)
