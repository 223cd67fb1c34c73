"""Trunk over map tiles that are embedded elsewhere: a summary token is put before them, and both are given back."""

import torch
from torch import Tensor, nn


class TileLayer(nn.Module):
    def __init__(self, channels: int, heads: int, widening: float):
        super().__init__()
        self.heads = heads
        self.norm_a, self.norm_b = nn.LayerNorm(channels), nn.LayerNorm(channels)
        self.to_qkv = nn.Linear(channels, 3 * channels, bias=False)
        self.merge = nn.Linear(channels, channels)
        self.mlp = nn.Sequential(
            nn.Linear(channels, int(channels * widening)), nn.GELU(), nn.Linear(int(channels * widening), channels)
        )

    def look_around(self, x: Tensor) -> Tensor:
        q, k, v = (t.unflatten(2, (self.heads, -1)).transpose(1, 2) for t in self.to_qkv(x).chunk(3, dim=2))
        seen = torch.softmax(q * k.shape[-1] ** -0.5 @ k.transpose(2, 3), dim=3) @ v
        return self.merge(seen.transpose(1, 2).flatten(2))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.look_around(self.norm_a(x))
        return x + self.mlp(self.norm_b(x))


class TileEncoder(nn.Module):
    """(batch, tiles, channels) -> summary (batch, channels), tiles (batch, tiles, channels)."""

    def __init__(self, channels: int, depth: int, heads: int, max_patches: int, mlp_ratio: float = 4.0):
        super().__init__()
        self.summary = nn.Parameter(torch.zeros(1, 1, channels))
        self.row = nn.Parameter(torch.zeros(max_patches + 1, channels))
        nn.init.normal_(self.summary, std=0.02)
        nn.init.normal_(self.row, std=0.02)
        self.layers = nn.ModuleList(TileLayer(channels, heads, mlp_ratio) for _ in range(depth))
        self.norm = nn.LayerNorm(channels)

    def forward(self, tiles: Tensor) -> tuple[Tensor, Tensor]:
        first = (self.summary + self.row[0]).repeat(len(tiles), 1, 1)
        x = torch.cat([first, tiles + self.row[1 : 1 + tiles.shape[1]]], dim=1)
        for layer in self.layers:
            x = layer(x)
        x = self.norm(x)
        return x[:, 0], x[:, 1:]
