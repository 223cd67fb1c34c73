"""rope with einops"""
import torch
from einops import rearrange, repeat


def rotate_every_two(x):
    x = rearrange(x, "... (d j) -> ... d j", j=2)
    x1, x2 = x.unbind(dim=-1)
    return rearrange(torch.stack((-x2, x1), dim=-1), "... d j -> ... (d j)")


def sincos(dim, length, theta=10_000.0):
    freqs = theta ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    angles = torch.einsum("n,d->nd", torch.arange(length, dtype=torch.float64), freqs)
    angles = repeat(angles, "n d -> n (two d)", two=2)
    return angles.sin(), angles.cos()


def apply(x, theta=10_000.0):
    """(batch heads n dim)"""
    if x.shape[-1] % 2:
        raise ValueError("dim is odd")
    sin, cos = sincos(x.shape[-1], x.shape[-2], theta)
    sin, cos = sin.to(x), cos.to(x)
    return x * cos + rotate_every_two(x) * sin
