"""An encoder of patches with stochastic depth: in training a branch is left out, for each picture by a coin."""

import torch
from torch import nn


class PatchLayer(nn.Module):
    def __init__(self, width, heads, wide, drop_path=0.0):
        super().__init__()
        self.before_mix, self.before_wide = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mix = nn.MultiheadAttention(width, heads, batch_first=True)
        self.wide = nn.Sequential(nn.Linear(width, wide), nn.GELU(), nn.Linear(wide, width))
        self.drop_path = drop_path

    def _maybe(self, branch):
        if not self.training or self.drop_path == 0.0:
            return branch
        stays = torch.rand(len(branch), 1, 1, device=branch.device) >= self.drop_path
        return branch * stays

    def forward(self, x):
        h = self.before_mix(x)
        x = x + self._maybe(self.mix(h, h, h, need_weights=False)[0])
        return x + self._maybe(self.wide(self.before_wide(x)))


class PatchEncoder(nn.Module):
    def __init__(self, width, heads, wide, depth, drop_path_rate=0.0):
        super().__init__()
        rates = [drop_path_rate * i / max(depth - 1, 1) for i in range(depth)]
        self.layers = nn.ModuleList(PatchLayer(width, heads, wide, rate) for rate in rates)
        self.last = nn.LayerNorm(width)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.last(x)
