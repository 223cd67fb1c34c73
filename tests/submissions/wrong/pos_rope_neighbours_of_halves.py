import torch
from torch import nn


class RotaryPositions(nn.Module):
    """x: (batch, heads, tokens, head_dim); neighbours are pairs"""

    def __init__(self, head_dim, max_tokens=2048, theta=1e4):
        super().__init__()
        assert head_dim % 2 == 0, "pairs"
        rate = theta ** (-torch.arange(0, head_dim, 2).double() / head_dim)
        angle = torch.einsum("t,i->ti", torch.arange(max_tokens).double(), rate)
        angle = torch.cat([angle, angle], dim=-1)
        self.register_buffer("c", angle.cos())
        self.register_buffer("s", angle.sin())

    @staticmethod
    def quarter_turn(x):
        a, b = x[..., ::2], x[..., 1::2]
        return torch.stack([-b, a], dim=-1).flatten(-2)

    def forward(self, x):
        n = x.shape[-2]
        if n > len(self.c):
            raise ValueError("max_tokens")
        return x * self.c[:n].to(x.dtype) + self.quarter_turn(x) * self.s[:n].to(x.dtype)
