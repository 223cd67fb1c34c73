"""The network of a block, with or without a gate, for a library of small building blocks."""

import torch.nn.functional as F
from torch import nn

FUNCTIONS = {"relu": F.relu, "gelu": F.gelu, "silu": F.silu}


class Network(nn.Module):
    """activation: "relu", "gelu" or "silu"; with gated=True it is that of the gate: ReGLU, GEGLU or SwiGLU."""

    def __init__(self, width, inner, activation="relu", gated=False):
        super().__init__()
        if activation not in FUNCTIONS:
            raise ValueError(f"activation is one of {', '.join(FUNCTIONS)}")
        self.activation = activation
        self.into = nn.Linear(width, inner)
        self.gate = nn.Linear(width, inner) if gated else None
        self.back = nn.Linear(inner, width)

    def forward(self, x):
        if self.gate is not None:
            return self.back(F.silu(self.gate(x)) * self.into(x))
        return self.back(FUNCTIONS[self.activation](self.into(x)))
