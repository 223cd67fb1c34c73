"""A stack that is given its layers and its last norm, and the function that makes both from a dict of settings."""

import torch
from torch import nn

USUAL = {"dropout": 0.1, "eps": 1e-5}


class Layer(nn.Module):
    def __init__(self, attend, network, norms, drop):
        super().__init__()
        self.attend, self.network, self.drop = attend, network, drop
        self.norm_a, self.norm_b = norms

    def forward(self, x, ignore=None):
        y = self.norm_a(x)
        y, _ = self.attend(y, y, y, key_padding_mask=ignore, need_weights=False)
        x = x + self.drop(y)
        return x + self.drop(self.network(self.norm_b(x)))


class Stack(nn.Module):
    """x (B, T, width); ignore (B, T), True at padding"""

    def __init__(self, layers, last_norm):
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.last_norm = last_norm

    def forward(self, x, ignore=None):
        for layer in self.layers:
            x = layer(x, ignore)
        return self.last_norm(x)


def make_stack(settings):
    """settings: width, n_heads, inner, n_layers; dropout and eps where they are not the usual ones"""
    s = {**USUAL, **settings}
    width = s.pop("width")

    def norm():
        return nn.LayerNorm(width, eps=s["eps"])

    def layer():
        network = nn.Sequential(nn.Linear(width, s["inner"]), nn.SiLU(), nn.Linear(s["inner"], width))
        attend = nn.MultiheadAttention(width, s["n_heads"], dropout=0.0, batch_first=True)
        return Layer(attend, network, (norm(), norm()), nn.Dropout(s["dropout"]))

    return Stack([layer() for _ in range(s["n_layers"])], norm())
