import torch
from torch import nn


def make_layers(sizes):
    for a, b in zip(sizes[:-1], sizes[1:]):
        yield nn.Linear(a, b)
        yield nn.ReLU()


class ImageMLP(nn.Module):
    """Pixel position in, colour out."""

    def __init__(self, n_freq, hidden, n_in=2, n_out=3):
        super().__init__()
        self.n_freq = n_freq
        self.body = nn.Sequential(*make_layers([2 * n_in * n_freq, *hidden, n_out]))

    def encode(self, p):
        a = p.double()[..., None] * 2.0 ** torch.arange(self.n_freq, device=p.device).double()
        return torch.cat([torch.sin(a), torch.cos(a)], -1).flatten(-2).to(p.dtype)

    def forward(self, p):
        return self.body(self.encode(p))
