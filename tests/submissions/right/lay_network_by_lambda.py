"""A block whose network is a function made in the constructor, which knows its layers from there."""

import torch
from torch import nn


class Looking(nn.Module):
    def __init__(self, size, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.three = nn.Linear(size, 3 * size)
        self.join = nn.Linear(size, size)

    def forward(self, x):
        length, size = x.shape[1:]
        q, k, v = (part.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for part in self.three(x).split(size, -1))
        later = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
        scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(later, float("-inf"))
        return self.join((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, size, n_heads):
        super().__init__()
        self.norm_a, self.norm_b = nn.LayerNorm(size), nn.LayerNorm(size)
        self.looking = Looking(size, n_heads)
        parts = nn.ModuleDict({"grow": nn.Linear(size, 4 * size), "bend": nn.GELU(), "shrink": nn.Linear(4 * size, size)})
        self.parts = parts
        self.think = lambda x: parts["shrink"](parts["bend"](parts["grow"](x)))

    def forward(self, x):
        x = x + self.looking(self.norm_a(x))
        return x + self.think(self.norm_b(x))
