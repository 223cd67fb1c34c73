"""One side of a translator: layers that listen to a memory where it is made for that, and do not elsewhere."""

import torch
from torch import nn


class Listening(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x, source, bias):
        q, k, v = (
            f(t).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for f, t in ((self.q, x), (self.k, source), (self.v, source))
        )
        scores = q @ k.transpose(2, 3) / q.shape[-1] ** 0.5 + bias
        return self.o((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


class Side(nn.Module):
    """x (B, T, width); mask, memory_mask: 1 for tokens, 0 for padding. Only a side that `listens` has a memory."""

    def __init__(self, width, heads, inner, depth, listens=False):
        super().__init__()
        self.listens = listens
        self.layers = nn.ModuleList()
        for _ in range(depth):
            parts = {
                "own": Listening(width, heads), "own_norm": nn.LayerNorm(width),
                "up": nn.Linear(width, inner), "down": nn.Linear(inner, width), "net_norm": nn.LayerNorm(width),
            }  # fmt: skip
            if listens:
                parts |= {"other": Listening(width, heads), "other_norm": nn.LayerNorm(width)}
            self.layers.append(nn.ModuleDict(parts))
        self.last = nn.LayerNorm(width)

    def forward(self, x, mask=None, memory=None, memory_mask=None):
        T = x.shape[1]
        bias = x.new_zeros(1, 1, T, T)
        if self.listens:
            bias = bias.masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), -1e9)
        if mask is not None:
            bias = bias.masked_fill(mask[:, None, None] == 0, -1e9)
        other = x.new_zeros(1)
        if memory_mask is not None:
            other = x.new_zeros(memory_mask.shape)[:, None, None].masked_fill(memory_mask[:, None, None] == 0, -1e9)
        for layer in self.layers:
            y = layer["own_norm"](x)
            x = x + layer["own"](y, y, bias)
            if self.listens:
                x = x + layer["other"](layer["other_norm"](x), memory, other)
            x = x + layer["down"](torch.relu(layer["up"](layer["net_norm"](x))))
        return self.last(x)
