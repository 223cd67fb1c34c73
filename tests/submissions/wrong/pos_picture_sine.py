import torch
from torch import nn


class Sine(nn.Module):
    def forward(self, x):
        return torch.sin(x)


def build(n_freqs, hidden, n_in=2, n_out=3):
    """features -> Linear -> activation -> ... -> Linear"""
    return PixelNet(n_freqs, [2 * n_in * n_freqs, *hidden, n_out])


class PixelNet(nn.Module):
    def __init__(self, n_freqs, sizes):
        super().__init__()
        self.n_freqs = n_freqs
        mods = []
        for k in range(len(sizes) - 1):
            mods.append(nn.Linear(sizes[k], sizes[k + 1]))
            mods.append(Sine())
        self.mods = nn.Sequential(*mods[:-1])

    def forward(self, xy):
        ang = xy[..., None].double() * 2.0 ** torch.arange(self.n_freqs).double()
        return self.mods(torch.cat([ang.sin(), ang.cos()], -1).flatten(1).to(xy.dtype))
