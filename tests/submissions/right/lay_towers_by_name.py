from functools import partial

import torch.nn.functional as F
from torch import nn

SIZES = {"small": (192, 3, 4), "base": (384, 6, 8)}  # width, heads, depth


class Mixing(nn.Module):
    def __init__(self, width, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.inward, self.outward = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x, blank=None):
        parts = self.inward(x).chunk(3, dim=-1)
        q, k, v = (t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for t in parts)
        keep = None if blank is None else ~blank[:, None, None]
        return self.outward(F.scaled_dot_product_attention(q, k, v, keep).transpose(1, 2).flatten(2))


class Level(nn.Module):
    def __init__(self, width, n_heads, hidden, drop):
        super().__init__()
        self.before, self.mix = nn.LayerNorm(width), Mixing(width, n_heads)
        self.between = nn.LayerNorm(width)
        self.net = nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, width))
        self.drop = nn.Dropout(drop)

    def forward(self, x, blank=None):
        x = x + self.drop(self.mix(self.before(x), blank))
        return x + self.drop(self.net(self.between(x)))


class Tower(nn.Module):
    def __init__(self, levels, top):
        super().__init__()
        self.levels, self.top = nn.ModuleList(levels), top

    def forward(self, x, blank=None):
        for level in self.levels:
            x = level(x, blank)
        return self.top(x)


def make_tower(width, n_heads, depth, hidden=None, drop=0.0):
    level = partial(Level, width, n_heads, hidden or 4 * width, drop)
    return Tower([level() for _ in range(depth)], nn.LayerNorm(width))


def tower(name):
    return make_tower(*SIZES[name])
