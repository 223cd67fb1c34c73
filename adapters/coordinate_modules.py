"""Fourier features of coordinates and the network behind them as nn.Modules, in the way that courses write them."""

from itertools import pairwise

import torch
from torch import nn

from attnconf.adapters import bind

declares = {"fourier-factor": "1", "fourier-input": "dropped", "fourier-order": "coordinate"}


class FourierFeatures(nn.Module):
    """Every coordinate times every frequency; sines and cosines beside each other, one coordinate after the other."""

    def __init__(self, frequencies):
        super().__init__()
        self.register_buffer("frequencies", torch.tensor(frequencies, dtype=torch.float64))

    def forward(self, x):
        angles = x[..., None].double() * self.frequencies
        return torch.cat([angles.sin(), angles.cos()], dim=-1).flatten(-2).to(x.dtype)


class CoordinateMlp(nn.Module):
    """The colour at a point: features, then linear layers with ReLU between them."""

    def __init__(self, in_dim, frequencies, hidden, out_dim):
        super().__init__()
        self.features = FourierFeatures(frequencies)
        widths = [2 * in_dim * len(frequencies), *hidden, out_dim]
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(widths))

    def forward(self, x):
        x = self.features(x)
        for layer in self.layers[:-1]:
            x = torch.relu(layer(x))
        return self.layers[-1](x)


def fourier(config, weights):
    return FourierFeatures(config.frequencies).to(config.device)


def coordinate_mlp(config, weights):
    module = CoordinateMlp(config.in_dim, config.frequencies, config.hidden, config.out_dim)
    return bind(module, {f"layers.{name}": w for name, w in weights.items()})
