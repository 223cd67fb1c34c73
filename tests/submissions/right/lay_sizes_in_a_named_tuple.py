"""A stack of encoder layers; all its sizes come in one named tuple, which has defaults."""

import typing

import torch
from torch import nn


class Sizes(typing.NamedTuple):
    width: int = 48
    n_heads: int = 6
    ff_width: int = 96
    n_layers: int = 2
    dropout: float = 0.0


class Block(nn.Module):
    def __init__(self, s: Sizes):
        super().__init__()
        self.attention = nn.MultiheadAttention(s.width, s.n_heads, dropout=s.dropout, batch_first=True)
        self.up = nn.Linear(s.width, s.ff_width)
        self.down = nn.Linear(s.ff_width, s.width)
        self.first = nn.LayerNorm(s.width)
        self.second = nn.LayerNorm(s.width)

    def forward(self, x, padding=None):
        x = self.first(x + self.attention(x, x, x, key_padding_mask=padding, need_weights=False)[0])
        return self.second(x + self.down(torch.relu(self.up(x))))


class Encoder(nn.Module):
    def __init__(self, sizes: Sizes = Sizes()):
        super().__init__()
        self.blocks = nn.ModuleList([Block(sizes) for _ in range(sizes.n_layers)])

    def forward(self, x, padding=None):
        for block in self.blocks:
            x = block(x, padding)
        return x
