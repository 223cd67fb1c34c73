import torch
from torch import nn


def rotate_half(t):
    a, b = t.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


class Rotary(nn.Module):
    def __init__(self, dim, base=10000.0):
        super().__init__()
        if dim % 2:
            raise ValueError("dim must be even")
        self.dim, self.base = dim, base

    def tables(self, n, device):
        f = self.base ** -(torch.arange(0, self.dim, 2, device=device).double() / self.dim)
        ang = torch.arange(n, device=device).double()[:, None] * f
        ang = ang.repeat_interleave(2, dim=-1)
        return ang.cos(), ang.sin()

    def forward(self, x):
        cos, sin = self.tables(x.size(-2), x.device)
        return x * cos.to(x.dtype) + rotate_half(x) * sin.to(x.dtype)
