"""Position-wise networks of both sorts, by one word."""

import torch
from torch import nn

NONLINEAR = {"relu": torch.relu, "gelu": nn.functional.gelu}
GATING = {"reglu": torch.relu, "geglu": nn.functional.gelu, "swiglu": nn.functional.silu}


class Plain(nn.Module):
    def __init__(self, width, inner, f):
        super().__init__()
        self.enter, self.leave = nn.Linear(width, inner), nn.Linear(inner, width)
        self.f = f

    def forward(self, x):
        return self.leave(self.f(self.enter(x)))


class Gated(nn.Module):
    def __init__(self, width, inner, f):
        super().__init__()
        self.gate, self.enter = nn.Linear(width, inner, bias=False), nn.Linear(width, inner, bias=False)
        self.leave = nn.Linear(inner, width, bias=False)
        self.f = f

    def forward(self, x):
        return self.leave(self.f(self.gate(x)) * self.enter(x))


def make_mlp(flavour, width, inner):
    """flavour: "relu" or "gelu", or with a gate "reglu", "geglu" or "swiglu"."""
    if flavour in GATING:
        return Gated(width, inner, GATING[flavour])
    if flavour in NONLINEAR:
        return Plain(width, inner, NONLINEAR[flavour])
    raise ValueError(f"no such network: {flavour}")
