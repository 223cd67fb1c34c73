"""Rotary attention for dialogues: each turn brings several tokens, and what came before is handed back."""

import torch
from torch import nn


class TurnByTurn(nn.Module):
    """Call it with past=() at the start of a dialogue; it then returns (out, past) for the next turn.

    Without ``past`` a whole dialogue comes at once, and the output comes alone.
    """

    def __init__(self, dim, num_heads, base=10000.0):
        super().__init__()
        self.num_heads, self.base = num_heads, base
        self.q, self.k, self.v, self.o = (nn.Linear(dim, dim, bias=False) for _ in range(4))

    def turned(self, x):
        half = x.shape[-1] // 2
        speed = self.base ** (-torch.arange(half, dtype=torch.float64) / half)
        angle = (torch.arange(x.shape[-2])[:, None] * speed).to(x.dtype)
        a, b = x[..., :half], x[..., half:]
        return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], dim=-1)

    def forward(self, x, past=None):
        q, k, v = (f(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for f in (self.q, self.k, self.v))
        q, k = self.turned(q), self.turned(k)
        if past:
            k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
        scores = q * q.shape[-1] ** -0.5 @ k.mT
        ahead = torch.ones_like(scores[0, 0], dtype=torch.bool).triu(1 + k.shape[2] - q.shape[2])
        out = self.o((scores.masked_fill(ahead, -torch.inf).softmax(-1) @ v).transpose(1, 2).flatten(2))
        return out if past is None else (out, (k, v))
