import math

import torch
from torch import nn


class FourierFeatures(nn.Module):
    """Octaves of all coordinates: sines first, then cosines; the coordinates themselves stand in front."""

    def __init__(self, num_frequencies):
        super().__init__()
        self.num_frequencies = num_frequencies

    def forward(self, x):
        octaves = 2.0 ** torch.arange(self.num_frequencies, dtype=x.dtype, device=x.device)
        angles = (x.unsqueeze(-2) * octaves[:, None]).flatten(-2)
        return torch.cat([x, torch.sin(torch.cat([angles, angles + math.pi / 2], dim=-1))], dim=-1)
