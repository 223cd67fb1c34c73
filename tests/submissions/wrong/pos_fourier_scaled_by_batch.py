import torch
from torch import nn


class CoordinateFeatures(nn.Module):
    def __init__(self, octaves):
        super().__init__()
        self.octaves = octaves

    def forward(self, xy):
        xy = xy / xy.abs().max()  # to [-1, 1]
        angle = xy[..., None] * 2.0 ** torch.arange(self.octaves, device=xy.device).to(xy.dtype)
        return torch.cat([angle.sin(), angle.cos()], dim=-1).flatten(-2)
