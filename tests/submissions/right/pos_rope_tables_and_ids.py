"""Rotary positions as two parts: a module that keeps tables, and a function that turns queries and keys by ids."""

import torch
from torch import nn


class RotaryTables(nn.Module):
    def __init__(self, dim, longest=1024, base=10_000, device=None):
        super().__init__()
        if dim % 2:
            raise ValueError("rotary dim has to be even")
        w = base ** (-torch.arange(0, dim, 2, dtype=torch.float64, device=device) / dim)
        self.register_buffer("w", w, persistent=False)
        self.grow(longest)

    def grow(self, n):
        angle = torch.arange(n, dtype=torch.float64, device=self.w.device)[:, None] * self.w
        angle = torch.cat([angle, angle], dim=1)
        self.register_buffer("cosines", angle.cos(), persistent=False)
        self.register_buffer("sines", angle.sin(), persistent=False)

    def forward(self, x, n):
        if n > len(self.cosines):
            self.grow(n)
        return self.cosines[:n].to(x), self.sines[:n].to(x)


def swap_halves(t):
    left, right = t.chunk(2, dim=-1)
    return torch.cat([-right, left], dim=-1)


def turn_queries_and_keys(q, k, cos, sin, ids):
    """q, k: (batch, heads, tokens, dim); ids: (batch, tokens) or (tokens,)"""
    c, s = cos[ids], sin[ids]
    if ids.dim() == 2:
        c, s = c[:, None], s[:, None]
    return q * c + swap_halves(q) * s, k * c + swap_halves(k) * s
