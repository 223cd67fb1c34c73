"""Random Fourier features of a picture's coordinates, channels first: (N, C, H, W) -> (N, 2 M, H, W)."""
import math

import torch
from torch import nn


class RandomFourierImage(nn.Module):
    def __init__(self, in_channels, mapping_size, scale=10.0):
        super().__init__()
        self.register_buffer("B", torch.randn(mapping_size, in_channels) * scale)

    def forward(self, coords):
        if coords.ndim != 4:
            raise ValueError("want (N, C, H, W)")
        angles = 2 * math.pi * torch.einsum("mc,nchw->nmhw", self.B, coords)
        return torch.cat((angles.cos(), angles.sin()), dim=1)
