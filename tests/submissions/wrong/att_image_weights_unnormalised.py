"""Attention among the pixels of an image, of which it is told the sides; its weights come back, too."""

from math import sqrt

import torch
from torch import Tensor, nn


class PixelAttention(nn.Module):
    def __init__(self, channels: int, num_heads: int, pool: int = 1):
        super().__init__()
        self.num_heads, self.pool = num_heads, pool
        self.from_pixels = nn.Linear(channels, channels)
        self.from_pooled = nn.Linear(channels, channels * 2)
        self.last = nn.Linear(channels, channels)

    def forward(self, x: Tensor, H: int, W: int, earlier: Tensor | None = None) -> tuple[Tensor, Tensor]:
        b, n, c = x.shape
        pooled = x
        if self.pool > 1:
            image = x.transpose(1, 2).reshape(b, c, H, W)
            pooled = nn.functional.avg_pool2d(image, self.pool).flatten(2).transpose(1, 2)
        q = self.from_pixels(x).reshape(b, n, self.num_heads, -1).transpose(1, 2)
        k, v = self.from_pooled(pooled).reshape(b, -1, 2, self.num_heads, c // self.num_heads).permute(2, 0, 3, 1, 4)
        weights = q @ k.mT / sqrt(q.shape[-1])
        if earlier is not None:
            weights = weights + earlier
        out = torch.softmax(weights, dim=-1) @ v
        return self.last(out.transpose(1, 2).reshape(b, n, c)), weights
