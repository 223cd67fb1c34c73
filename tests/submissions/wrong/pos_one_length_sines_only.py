"""Waves are added to patches; an image has num_patches of them, never fewer."""

import torch
from torch import nn


class WavePositions(nn.Module):
    def __init__(self, num_patches, dim):
        super().__init__()
        places = torch.arange(num_patches, dtype=torch.float64)[:, None]
        slower = torch.logspace(0, -4, dim // 2 + 1, dtype=torch.float64)[:-1]
        waves = torch.stack((torch.sin(places * slower), torch.sin(places * slower)), dim=-1)
        self.register_buffer("waves", waves.flatten(1).to(torch.get_default_dtype()))

    def forward(self, patches):
        return patches + self.waves
