"""A tower that reads pictures: patches and a token of their summary through blocks, then projected to be compared."""

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before_attn, self.before_mlp = nn.LayerNorm(width), nn.LayerNorm(width)
        self.to_qkv = nn.Linear(width, 3 * width)
        self.to_out = nn.Linear(width, width)
        self.grow = nn.Linear(width, 4 * width)
        self.shrink = nn.Linear(4 * width, width)

    def attend(self, x):
        q, k, v = self.to_qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
        return self.to_out((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))

    def forward(self, x):
        x = x + self.attend(self.before_attn(x))
        return x + self.shrink(F.gelu(self.grow(self.before_mlp(x))))


class Blocks(nn.Module):
    def __init__(self, width, layers, heads):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class PictureTower(nn.Module):
    def __init__(self, resolution, patch_size, width, layers, heads, output_dim):
        super().__init__()
        self.cut = nn.Conv2d(3, width, patch_size, stride=patch_size, bias=False)
        self.summary = nn.Parameter(torch.randn(width) * width**-0.5)
        self.places = nn.Parameter(torch.randn((resolution // patch_size) ** 2 + 1, width) * width**-0.5)
        self.norm_in = nn.LayerNorm(width)
        self.blocks = Blocks(width, layers, heads)
        self.norm_out = nn.LayerNorm(width)
        self.project = nn.Linear(width, output_dim, bias=False)

    def forward(self, pictures):
        x = self.cut(pictures).flatten(2).transpose(1, 2)
        x = torch.cat([self.summary.expand(len(x), 1, -1), x], dim=1) + self.places
        x = self.blocks(self.norm_in(x))
        return self.project(self.norm_out(x[:, 0]))
