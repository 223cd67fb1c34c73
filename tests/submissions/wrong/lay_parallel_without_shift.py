"""Decoder block with both branches off one norm: x + attention(n) + mlp(n), n = layer norm of x without a shift."""
import math

import torch
from torch import nn


class ScaledLayerNorm(nn.Module):
    def __init__(self, width, eps):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x):
        mu = x.mean(-1, keepdim=True)
        spread = ((x - mu) ** 2).mean(-1, keepdim=True)
        return self.gain * (x - mu) * torch.rsqrt(spread + self.eps)


def spin(x, theta=10000.0):
    """Neighbouring features of (batch, heads, time, width) are turned by their position."""
    *_, time, width = x.shape
    freq = theta ** (-torch.arange(0, width, 2, dtype=x.dtype) / width)
    angle = torch.arange(time, dtype=x.dtype)[:, None] * freq
    even, odd = x[..., ::2], x[..., 1::2]
    both = (even * angle.cos() - odd * angle.sin(), odd * angle.cos() + even * angle.sin())
    return torch.stack(both, dim=-1).flatten(-2)


class CommandBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, eps=1e-5):
        super().__init__()
        self.n_heads, self.width = n_heads, d_model // n_heads
        self.input_norm = ScaledLayerNorm(d_model, eps)
        self.wq = nn.Linear(d_model, d_model, bias=False)
        self.wk = nn.Linear(d_model, d_model, bias=False)
        self.wv = nn.Linear(d_model, d_model, bias=False)
        self.wo = nn.Linear(d_model, d_model, bias=False)
        self.gate = nn.Linear(d_model, d_ff, bias=False)
        self.up = nn.Linear(d_model, d_ff, bias=False)
        self.down = nn.Linear(d_ff, d_model, bias=False)

    def attend(self, n):
        b, t, _ = n.shape
        q, k, v = (w(n).view(b, t, self.n_heads, self.width).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        scores = spin(q) @ spin(k).transpose(-2, -1) / math.sqrt(self.width)
        later = torch.ones(t, t, dtype=torch.bool).triu(1)
        mixed = scores.masked_fill(later, float("-inf")).softmax(-1) @ v
        return self.wo(mixed.transpose(1, 2).reshape(b, t, -1))

    def forward(self, x):
        n = self.input_norm(x)
        return x + self.attend(n) + self.down(nn.functional.silu(self.gate(x)) * self.up(x))
