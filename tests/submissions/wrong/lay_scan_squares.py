"""ViT over squares of a scan that a loader cuts; its first token tells what is seen."""

import torch
import torch.nn.functional as F
from torch import nn


class Mixing(nn.Module):
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


class Thinking(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.ln, self.up, self.down = nn.LayerNorm(dim), nn.Linear(dim, hidden), nn.Linear(hidden, dim)

    def forward(self, x):
        return self.down(F.gelu(self.up(self.ln(x))))


class ScanEncoder(nn.Module):
    def __init__(self, patch_features, num_patches, dim, depth, heads, hidden, num_classes=10):
        super().__init__()
        self.read = nn.Linear(patch_features, dim)
        self.gist = nn.Parameter(torch.randn(1, 1, dim) * 0.02)
        self.spot = nn.Parameter(torch.randn(1, 1 + num_patches, dim) * 0.02)
        self.attend = nn.ModuleList(Mixing(dim, heads) for _ in range(depth))
        self.think = nn.ModuleList(Thinking(dim, hidden) for _ in range(depth))
        self.end, self.finding = nn.LayerNorm(dim), nn.Linear(dim, num_classes)

    def forward(self, patches):
        """patches (b, num_patches, patch_features), the class token goes before them."""
        squares = self.read(patches) + self.spot[:, :-1]
        x = torch.cat([(self.gist + self.spot[:, :1]).expand(len(patches), -1, -1), squares], dim=1)
        for attend, think in zip(self.attend, self.think):
            x = x + attend(x)
            x = x + think(x)
        return self.finding(self.end(x)[:, 0])
