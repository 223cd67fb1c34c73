"""Rotary attention that is told where its tokens stand: ``start_pos`` tokens came before, ``past`` is of them."""

import torch
from torch import nn


def turn(x, at, base):
    half = x.shape[-1] // 2
    speed = base ** (-torch.arange(half, dtype=torch.float64) / half)
    angle = ((at + torch.arange(x.shape[-2]))[:, None] * speed).to(x.dtype)
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], dim=-1)


class TurningAttention(nn.Module):
    def __init__(self, dim, num_heads, base=10000.0):
        super().__init__()
        self.num_heads, self.base = num_heads, base
        self.q, self.k, self.v, self.o = (nn.Linear(dim, dim, bias=False) for _ in range(4))

    def forward(self, x, start_pos=0, past=None):
        q, k, v = (f(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for f in (self.q, self.k, self.v))
        q, k = turn(q, start_pos, self.base), turn(k, start_pos, self.base)
        if past is not None:
            k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
        scores = q * q.shape[-1] ** -0.5 @ k.mT
        ahead = torch.ones_like(scores[0, 0], dtype=torch.bool).triu(1 + k.shape[2] - q.shape[2])
        out = scores.masked_fill(ahead, -torch.inf).softmax(-1) @ v
        return self.o(out.transpose(1, 2).flatten(2)), (k, v)
