"""Gaussian features of places on a map; the directions may go on learning."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class PlaceFourier(nn.Module):
    def __init__(self, n_coords, n_feat, sigma=1.0, learn=False, seed=None):
        super().__init__()
        source = torch.Generator()
        if seed is not None:
            source.manual_seed(seed)
        B = sigma * torch.randn(n_feat, n_coords, generator=source)
        if learn:
            self.B = nn.Parameter(B)
        else:
            self.register_buffer("B", B)

    def forward(self, v):
        turns = math.pi * F.linear(v, self.B)
        return torch.cat([turns.cos(), turns.sin()], dim=-1)
