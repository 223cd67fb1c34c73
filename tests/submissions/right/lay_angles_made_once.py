"""A causal layer; the model makes the angles once, and hands them on to every layer.

    cos, sin = angles(length, head_width)
    y = layer(x, cos, sin)
"""
import torch
import torch.nn.functional as F
from torch import nn


def angles(length, width, theta=10000.0):
    """Cosines and sines, (length, width), one column for each feature."""
    turn = theta ** (-torch.arange(0, width, 2, dtype=torch.float32) / width)
    phase = torch.outer(torch.arange(length, dtype=torch.float32), turn).repeat_interleave(2, dim=-1)
    return phase.cos(), phase.sin()


def swapped(x):
    """(a, b, c, d) -> (-b, a, -d, c)."""
    return torch.stack((-x[..., 1::2], x[..., 0::2]), dim=-1).flatten(-2)


def turned(x, cos, sin):
    return x * cos + swapped(x) * sin


class Layer(nn.Module):
    def __init__(self, features, heads, head_width, inner):
        super().__init__()
        self.heads, self.head_width = heads, head_width
        self.before, self.between = nn.RMSNorm(features, eps=1e-6), nn.RMSNorm(features, eps=1e-6)
        self.to_q = nn.Linear(features, heads * head_width, bias=False)
        self.to_k = nn.Linear(features, heads * head_width, bias=False)
        self.to_v = nn.Linear(features, heads * head_width, bias=False)
        self.back = nn.Linear(heads * head_width, features, bias=False)
        self.gate, self.up = nn.Linear(features, inner, bias=False), nn.Linear(features, inner, bias=False)
        self.down = nn.Linear(inner, features, bias=False)

    def attend(self, x, cos, sin):
        b, t, _ = x.shape
        q, k, v = (to(x).view(b, t, self.heads, self.head_width).transpose(1, 2) for to in (self.to_q, self.to_k, self.to_v))
        q, k = turned(q, cos, sin), turned(k, cos, sin)
        scores = q @ k.mT / self.head_width**0.5
        scores = scores.masked_fill(torch.ones(t, t, dtype=torch.bool).triu(1), float("-inf"))
        return self.back((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))

    def forward(self, x, cos, sin):
        x = x + self.attend(self.before(x), cos, sin)
        h = self.between(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))
