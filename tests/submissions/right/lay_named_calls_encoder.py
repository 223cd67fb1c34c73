"""Encoder in which every argument has to be named, in constructors and in calls."""

import torch
from torch import Tensor, nn


class Attention(nn.Module):
    def __init__(self, *, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.into, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, *, tokens: Tensor, keep: Tensor | None) -> Tensor:
        q, k, v = self.into(tokens).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        scores = q @ k.mT * q.shape[-1] ** -0.5
        if keep is not None:
            scores = scores.masked_fill(~keep[:, None, None], float("-inf"))
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


class Layer(nn.Module):
    def __init__(self, *, width: int, heads: int, inner: int):
        super().__init__()
        self.attention = Attention(width=width, heads=heads)
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)
        self.before_attention, self.before_inner = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, *, tokens: Tensor, keep: Tensor | None = None) -> Tensor:
        tokens = tokens + self.attention(tokens=self.before_attention(tokens), keep=keep)
        return tokens + self.down(torch.relu(self.up(self.before_inner(tokens))))


class NamedEncoder(nn.Module):
    def __init__(self, *, width: int, heads: int, inner: int, depth: int):
        super().__init__()
        self.layers = nn.ModuleList(Layer(width=width, heads=heads, inner=inner) for _ in range(depth))
        self.last = nn.LayerNorm(width)

    def forward(self, *, tokens: Tensor, keep: Tensor | None = None) -> Tensor:
        for layer in self.layers:
            tokens = layer(tokens=tokens, keep=keep)
        return self.last(tokens)
