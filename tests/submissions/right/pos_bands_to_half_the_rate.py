"""Where a latent looks: positions in -1 … 1 as sines and cosines of evenly spaced frequencies."""

import math

import torch


class PositionBands(torch.nn.Module):
    """(..., axes) -> (..., axes * (2 * num_bands + 1)).

    The frequencies are spread evenly from 1 to half of `max_freq`, the rate of sampling. Sines of all axes come first,
    then the cosines, and the positions themselves behind them.
    """

    def __init__(self, num_bands, max_freq):
        super().__init__()
        self.register_buffer("speeds", math.pi * torch.linspace(1.0, max_freq / 2, num_bands, dtype=torch.float64))

    def forward(self, where):
        turns = torch.einsum("...a,k->...ak", where.double(), self.speeds).flatten(-2)
        return torch.cat([turns.sin(), turns.cos(), where.double()], dim=-1).to(where.dtype)
