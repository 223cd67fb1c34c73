import math
import torch


class Embedder:
    """multires octaves of every coordinate, the coordinates themselves come first"""

    def __init__(self, multires):
        self.freq_bands = [2.0 * k for k in range(multires)]

    def __call__(self, inputs):
        parts = [inputs]
        for f in self.freq_bands:
            parts.append(torch.sin(math.pi * f * inputs))
            parts.append(torch.cos(math.pi * f * inputs))
        return torch.cat(parts, dim=-1)
