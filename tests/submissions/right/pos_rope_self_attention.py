import math
import torch
import torch.nn.functional as F
from einops import rearrange


def turn(x, base):
    # x: b h n d, pairs are (d/2, d/2)
    n, d = x.shape[-2:]
    if d % 2:
        raise ValueError('odd head')
    w = base ** -(torch.arange(d // 2, dtype=torch.float64) / (d // 2))
    th = torch.einsum('n,k->nk', torch.arange(n, dtype=torch.float64), w)
    cos, sin = th.cos().to(x), th.sin().to(x)
    u, v = rearrange(x, '... (two k) -> two ... k', two=2)
    return rearrange([u * cos - v * sin, v * cos + u * sin], 'two ... k -> ... (two k)')


class RotaryAttention(torch.nn.Module):
    """the inner part: heads are split outside"""

    def __init__(self, dim_head, causal=False, rope_base=10000):
        super().__init__()
        self.scale = dim_head ** -0.5
        self.causal = causal
        self.rope_base = rope_base

    def forward(self, q, k, v):
        q, k = turn(q, self.rope_base), turn(k, self.rope_base)
        sim = torch.einsum('b h i d, b h j d -> b h i j', q * self.scale, k)
        if self.causal:
            i, j = sim.shape[-2:]
            hide = torch.ones(i, j, dtype=torch.bool, device=sim.device).triu(1)
            sim = sim.masked_fill(hide, -torch.finfo(sim.dtype).max)
        return torch.einsum('b h i j, b h j d -> b h i d', sim.softmax(-1), v)
