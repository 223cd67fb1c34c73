import torch
from torch import nn


class PartialRope(nn.Module):
    def __init__(self, head_dim, fraction=0.5, base=10000.0):
        super().__init__()
        self.head_dim = head_dim
        self.rotary_dim = int(round(head_dim * fraction))
        if self.rotary_dim % 2 or not 0 < self.rotary_dim <= head_dim:
            raise ValueError("fraction of head_dim must be an even number")
        self.base = base

    def forward(self, x):
        T = x.size(-2)
        k = torch.arange(0, self.rotary_dim, 2, dtype=torch.float64)
        ang = torch.arange(T, dtype=torch.float64)[:, None] * self.base ** (-k / self.head_dim)
        c, s = ang.cos().to(x), ang.sin().to(x)
        r, keep = x[..., : self.rotary_dim], x[..., self.rotary_dim :]
        a, b = r[..., ::2], r[..., 1::2]
        r = torch.stack((a * c - b * s, a * s + b * c), -1).flatten(-2)
        return torch.cat((r, keep), -1)
