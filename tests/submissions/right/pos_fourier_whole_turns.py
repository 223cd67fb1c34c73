import math
import torch


class TurnEncoding:
    """Frequencies are in turns per unit. All sines stand before all cosines."""

    def __init__(self, octaves: int):
        self.octaves = octaves

    def __call__(self, points):
        dtype = torch.promote_types(points.dtype, torch.float32)
        turns = torch.stack([points.to(dtype) * 2 ** k for k in range(self.octaves)], dim=-1)  # ..., d, k
        phase = (2 * math.pi * turns).flatten(-2)
        return torch.cat((phase.sin(), phase.cos()), dim=-1).to(points.dtype)
