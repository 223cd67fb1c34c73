"""A ViT for small pictures of leaves, four classes of illness."""

import torch
import torch.nn as nn


class Attend(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        n, length, width = x.shape
        qkv = self.qkv(x).view(n, length, 3, self.heads, width // self.heads)
        q, k, v = torch.unbind(qkv.permute(2, 0, 3, 1, 4))
        weights = torch.softmax(q @ k.transpose(2, 3) * (width // self.heads) ** -0.5, dim=-2)
        return self.proj((weights @ v).transpose(1, 2).flatten(2))


class Leaf(nn.Module):
    def __init__(self, width, heads, ratio):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(width, eps=1e-6), nn.LayerNorm(width, eps=1e-6)
        self.attend = Attend(width, heads)
        hidden = int(width * ratio)
        self.think = nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, width))

    def forward(self, x):
        x = x + self.attend(self.ln1(x))
        return x + self.think(self.ln2(x))


class LeafViT(nn.Module):
    def __init__(self, img_size=32, patch=4, width=192, depth=9, heads=3, mlp_ratio=4.0, n_classes=4):
        super().__init__()
        self.cut = nn.Conv2d(3, width, kernel_size=patch, stride=patch)
        self.where = nn.Parameter(torch.zeros(1, (img_size // patch) ** 2, width))
        nn.init.trunc_normal_(self.where, std=0.02)
        self.stack = nn.ModuleList(Leaf(width, heads, mlp_ratio) for _ in range(depth))
        self.ln = nn.LayerNorm(width, eps=1e-6)
        self.head = nn.Linear(width, n_classes)

    def forward(self, images):
        x = self.cut(images).flatten(2).transpose(1, 2) + self.where
        for layer in self.stack:
            x = layer(x)
        return self.head(self.ln(x).mean(dim=1))
