"""Random Fourier features."""

import torch
from torch import nn


class RandomFourier(nn.Module):
    def __init__(self, coordinates: int, features: int, sigma: float = 1.0):
        super().__init__()
        self.register_buffer("turns", sigma * torch.randn(features, coordinates))

    def forward(self, x):
        angles = x @ self.turns.mT
        return torch.cat((angles.cos(), angles.sin()), dim=-1)
