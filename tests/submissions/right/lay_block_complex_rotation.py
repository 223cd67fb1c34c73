"""One block of a decoder-only model. Whoever calls it slices the complex table to the tokens of the call."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class BlockConfig:
    width: int = 512
    heads: int = 8
    inner: int = 2048
    ratio_of_shared: float = None
    eps: float = 1e-6


def spin(x, freqs_cis):
    pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * freqs_cis[None, :, None, :]).flatten(-2)


class SelfAttention(nn.Module):
    def __init__(self, c: BlockConfig):
        super().__init__()
        self.heads = c.heads
        self.q = nn.Linear(c.width, c.width, bias=False)
        self.k = nn.Linear(c.width, c.width, bias=False)
        self.v = nn.Linear(c.width, c.width, bias=False)
        self.o = nn.Linear(c.width, c.width, bias=False)

    def forward(self, x, start_pos, freqs_cis):
        B, T, C = x.shape
        assert freqs_cis.shape == (T, C // self.heads // 2) and start_pos >= 0
        q, k, v = (f(x).view(B, T, self.heads, -1) for f in (self.q, self.k, self.v))
        q, k = spin(q, freqs_cis), spin(k, freqs_cis)
        y = F.scaled_dot_product_attention(*(t.transpose(1, 2) for t in (q, k, v)), is_causal=True)
        return self.o(y.transpose(1, 2).reshape(B, T, C))


class Block(nn.Module):
    def __init__(self, c: BlockConfig):
        super().__init__()
        self.before_attention = nn.RMSNorm(c.width, eps=c.eps)
        self.attention = SelfAttention(c)
        self.before_network = nn.RMSNorm(c.width, eps=c.eps)
        inner = c.inner if c.ratio_of_shared is None else int(c.ratio_of_shared * c.inner)
        self.gate = nn.Linear(c.width, inner, bias=False)
        self.up = nn.Linear(c.width, inner, bias=False)
        self.down = nn.Linear(inner, c.width, bias=False)

    def forward(self, x: torch.Tensor, start_pos: int, freqs_cis: torch.Tensor):
        x = x + self.attention(self.before_attention(x), start_pos, freqs_cis)
        y = self.before_network(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))
