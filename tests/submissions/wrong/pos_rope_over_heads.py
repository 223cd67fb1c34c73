import math
import torch
from torch import nn


def apply_rope(x, base=10000.0):
    """x: (batch, seq, n_heads, head_dim)"""
    seq, dim = x.shape[1], x.shape[-1]
    if dim % 2:
        raise ValueError("head_dim must be even")
    inv_freq = base ** (-torch.arange(0, dim, 2, device=x.device).double() / dim)
    angle = (torch.arange(seq, device=x.device).double()[:, None] * inv_freq)[None, :, None, :]
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    first, second = x[..., : dim // 2], x[..., dim // 2 :]
    return torch.cat((first * cos - second * sin, second * cos + first * sin), -1)


class Attention(nn.Module):
    """The heads have been split already: q, k, v are (batch, n_heads, seq, head_dim)."""

    def __init__(self, head_dim, causal=True, base=10000.0):
        super().__init__()
        self.head_dim = head_dim
        self.causal = causal
        self.base = base

    def forward(self, q, k, v):
        q = apply_rope(q, self.base)
        k = apply_rope(k, self.base)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if self.causal:
            T = scores.size(-1)
            keep = torch.tril(torch.ones(T, T, dtype=torch.bool, device=q.device))
            scores = scores.masked_fill(~keep, float("-inf"))
        return scores.softmax(-1) @ v
