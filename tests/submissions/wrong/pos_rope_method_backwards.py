import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim, base=10000.0):
        super().__init__()
        self.register_buffer("inv_freq", base ** (-torch.arange(0, dim, 2).float() / dim))

    def forward(self, seq_len):
        angles = torch.outer(torch.arange(seq_len).float(), self.inv_freq)
        angles = torch.cat([angles, angles], dim=-1)
        return angles.cos(), angles.sin()

    def rotate(self, x):
        """x: (batch, heads, length, dim)"""
        cos, sin = self(x.size(-2))
        a, b = x.chunk(2, dim=-1)
        return x * cos + torch.cat([b, -a], dim=-1) * sin
