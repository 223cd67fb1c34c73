"""An encoder of pictures: patches of 4 x 4 pixels get a learned place each, then go through layers."""

import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, dim, heads, inner):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim, eps=1e-6), nn.LayerNorm(dim, eps=1e-6)
        self.attention = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.inner = nn.Sequential(nn.Linear(dim, inner), nn.GELU(), nn.Linear(inner, dim))

    def forward(self, x):
        y = self.norm1(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.inner(self.norm2(x))


class PlacedEncoder(nn.Module):
    def __init__(self, image_size=32, dim=64, heads=4, inner=128, depth=2):
        super().__init__()
        self.patches = nn.Conv2d(3, dim, 4, 4)
        self.place = nn.Parameter(torch.randn(1, (image_size // 4) ** 2, dim) * 0.02)
        self.layers = nn.ModuleList([Layer(dim, heads, inner) for _ in range(depth)])
        self.last = nn.LayerNorm(dim, eps=1e-6)

    def forward(self, images):
        tokens = self.patches(images).flatten(2).transpose(1, 2)
        x = tokens + self.place.detach()
        for layer in self.layers:
            x = layer(x)
        return self.last(x)
