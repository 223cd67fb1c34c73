import math
import torch
import torch.nn as nn


class ResidualBlock(nn.Module):
    """x -> Norm(x + Dropout(f(x, ...))) for any f."""

    def __init__(self, width, inner, dropout=0.0):
        super().__init__()
        self.inner = inner
        self.norm = nn.LayerNorm(width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, *rest):
        return self.norm(x + self.dropout(self.inner(x, *rest)))


class Attend(nn.Module):
    def __init__(self, width, n):
        super().__init__()
        self.n = n
        self.fq, self.fk, self.fv, self.fo = (nn.Linear(width, width) for _ in "qkvo")

    def forward(self, x, context, visible):
        n = self.n
        part = lambda t: torch.stack(t.chunk(n, dim=-1))  # heads first: (n, B, T, d)
        q, k, v = part(self.fq(x)), part(self.fk(context)), part(self.fv(context))
        s = q @ k.transpose(2, 3) / math.sqrt(q.shape[-1])
        if visible is not None:
            s = s.masked_fill(visible.logical_not(), float("-inf"))
        return self.fo(torch.cat(tuple(s.softmax(-1) @ v), dim=-1))


class DecoderBlock(nn.Module):
    def __init__(self, width: int, self_block: nn.Module, cross_block: nn.Module, mlp_block: nn.Module):
        super().__init__()
        self.width = width
        self.self_block = ResidualBlock(width, self_block)
        self.cross_block = ResidualBlock(width, cross_block)
        self.mlp_block = ResidualBlock(width, mlp_block)

    def forward(self, x, memory, src_visible=None, trg_visible=None):
        """src_visible (B, 1, S), trg_visible (B, T, T) or (T, T), True = may look"""
        x = self.self_block(x, x, trg_visible)
        x = self.cross_block(x, memory, src_visible)
        return self.mlp_block(x)


def make(width=24, n=3, hidden=50):
    mlp = nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, width))
    return DecoderBlock(width, Attend(width, n), Attend(width, n), mlp)
