"""Waves are added to patches; an image has at most max_patches of them."""

import torch
from torch import nn


class WavePositions(nn.Module):
    def __init__(self, max_patches, dim):
        super().__init__()
        places = torch.arange(max_patches, dtype=torch.float64)[:, None]
        slower = torch.logspace(0, -4, dim // 2 + 1, dtype=torch.float64)[:-1]
        waves = torch.stack((torch.sin(places * slower), torch.cos(places * slower)), dim=-1)
        self.register_buffer("waves", waves.flatten(1).to(torch.get_default_dtype()))

    def forward(self, patches):
        return patches + self.waves
