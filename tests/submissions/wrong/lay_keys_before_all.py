"""A decoder layer whose attentions are handed keys and values, which the layer has projected before."""

import torch
from torch import nn
from torch.nn.functional import relu, scaled_dot_product_attention


class Reads(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.asks, self.holds, self.ends = nn.Linear(dim, dim), nn.Linear(dim, 2 * dim), nn.Linear(dim, dim)

    def heads_of(self, y):
        return y.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def held(self, y):
        return [self.heads_of(part) for part in self.holds(y).chunk(2, -1)]

    def forward(self, x, keys, values, seen=None):
        read = scaled_dot_product_attention(self.heads_of(self.asks(x)), keys, values, attn_mask=seen)
        return self.ends(read.transpose(1, 2).flatten(2))


class DecoderLayer(nn.Module):
    def __init__(self, dim, heads, hidden):
        super().__init__()
        self.before = nn.ModuleList(nn.LayerNorm(dim) for _ in range(3))
        self.own, self.other = Reads(dim, heads), Reads(dim, heads)
        self.up, self.down = nn.Linear(dim, hidden), nn.Linear(hidden, dim)

    def forward(self, x, memory, memory_mask=None):
        """memory_mask: (batch, length of memory), True = a token."""
        h = self.before[0](x)
        past = torch.ones(x.size(1), x.size(1), dtype=torch.bool).tril(1)
        x = x + self.own(h, *self.own.held(h), past)
        keys, values = self.other.held(memory)
        seen = None if memory_mask is None else memory_mask[:, None, None]
        x = x + self.other(self.before[1](x), keys, values, seen)
        return x + self.down(relu(self.up(self.before[2](x))))
