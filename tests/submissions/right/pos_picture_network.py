"""Learn a picture: (x, y) -> (r, g, b)."""
import torch
from torch import nn


class Features(nn.Module):
    def __init__(self, levels):
        super().__init__()
        self.levels = levels

    def forward(self, xy):
        octave = 2.0 ** torch.arange(self.levels, dtype=torch.float64, device=xy.device)
        a = xy.unsqueeze(-1).double() * octave          # (n, 2, levels)
        return torch.cat([a.sin(), a.cos()], dim=-1).flatten(1).to(xy.dtype)


class PictureNet(nn.Module):
    def __init__(self, levels=6, hidden=(256, 128, 64), in_dim=2, out_dim=3):
        super().__init__()
        layers = [Features(levels)]
        width = 2 * in_dim * levels
        for h in hidden:
            layers += [nn.Linear(width, h), nn.ReLU()]
            width = h
        layers.append(nn.Linear(width, out_dim))
        self.net = nn.Sequential(*layers)

    def forward(self, xy):
        return self.net(xy)
