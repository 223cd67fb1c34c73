from typing import NamedTuple

import torch
import torch.nn as nn


class Hyper(NamedTuple):
    model: int = 64
    heads: int = 4
    ff: int = 128
    blocks: int = 2


class SelfAttention(nn.Module):
    def __init__(self, hp: Hyper):
        super().__init__()
        self.hp = hp
        self.q_proj = nn.Linear(hp.model, hp.model)
        self.k_proj = nn.Linear(hp.model, hp.model)
        self.v_proj = nn.Linear(hp.model, hp.model)
        self.o_proj = nn.Linear(hp.model, hp.model)

    def forward(self, x):
        split = lambda t: t.unflatten(-1, (self.hp.heads, -1)).transpose(1, 2)
        queries = split(self.q_proj(x))
        keys = split(self.k_proj(x))
        values = split(self.k_proj(x))
        y = nn.functional.scaled_dot_product_attention(queries, keys, values)
        return self.o_proj(y.transpose(1, 2).flatten(2))


class Net(nn.Module):
    def __init__(self, hp: Hyper = Hyper()):
        super().__init__()
        self.attns = nn.ModuleList(SelfAttention(hp) for _ in range(hp.blocks))
        self.mlps = nn.ModuleList(
            nn.Sequential(nn.Linear(hp.model, hp.ff), nn.GELU(), nn.Linear(hp.ff, hp.model)) for _ in range(hp.blocks)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(hp.model) for _ in range(2 * hp.blocks + 1))

    def forward(self, x):
        for i, (attn, mlp) in enumerate(zip(self.attns, self.mlps)):
            x = x + attn(self.norms[2 * i](x))
            x = x + mlp(self.norms[2 * i + 1](x))
        return self.norms[-1](x)
