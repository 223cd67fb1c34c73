import torch
from torch import nn


class CoordEncoding(nn.Module):
    """Fourier features of coordinates, octave by octave"""

    def __init__(self, n_octaves, include_input=False):
        super().__init__()
        self.n_octaves = n_octaves
        self.include_input = include_input

    def forward(self, x):
        wide = x.double()
        out = [x] if self.include_input else []
        for o in range(self.n_octaves):
            for f in (torch.sin, torch.cos):
                out.append((f(2 ** o * wide) / 2 ** o).to(x.dtype))
        return torch.cat(out, -1)
