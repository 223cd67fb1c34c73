"""ViT whose pictures are cut outside: rows of pixels come in, a digit's logits come out."""

import torch
import torch.nn.functional as F
from torch import nn


class MultiHead(nn.Module):
    """Norm, then attention: the residual is outside."""

    def __init__(self, dim, heads):
        super().__init__()
        self.ln, self.h = nn.LayerNorm(dim), heads
        self.q, self.k, self.v = (nn.Linear(dim, dim) for _ in range(3))
        self.o = nn.Linear(dim, dim)

    def forward(self, x):
        y = self.ln(x)
        q, k, v = (f(y).unflatten(-1, (self.h, -1)).transpose(1, 2) for f in (self.q, self.k, self.v))
        weights = F.softmax(q @ k.mT / q.shape[-1] ** 0.5, dim=-1)
        return self.o((weights @ v).transpose(1, 2).flatten(-2))


class Network(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.ln, self.up, self.down = nn.LayerNorm(dim), nn.Linear(dim, hidden), nn.Linear(hidden, dim)

    def forward(self, x):
        return self.down(F.gelu(self.up(self.ln(x))))


class PatchEncoder(nn.Module):
    def __init__(self, patch_features, num_patches, dim, depth, heads, hidden, num_classes=10):
        super().__init__()
        self.look = nn.Linear(patch_features, dim)
        self.summary = nn.Parameter(torch.randn(1, 1, dim) * 0.02)
        self.place = nn.Parameter(torch.randn(1, 1 + num_patches, dim) * 0.02)
        self.attend = nn.ModuleList(MultiHead(dim, heads) for _ in range(depth))
        self.think = nn.ModuleList(Network(dim, hidden) for _ in range(depth))
        self.end, self.digit = nn.LayerNorm(dim), nn.Linear(dim, num_classes)

    def forward(self, patches):
        """patches (b, num_patches, patch_features), the class token goes before them."""
        x = torch.cat([self.summary.expand(len(patches), -1, -1), self.look(patches)], dim=1) + self.place
        for attend, think in zip(self.attend, self.think):
            x = x + attend(x)
            x = x + think(x)
        return self.digit(self.end(x)[:, 0])
