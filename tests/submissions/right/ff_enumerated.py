"""Feed-forward networks whose activation is one of an enumeration."""

from dataclasses import dataclass
from enum import Enum

import torch
from torch import nn


class Kind(str, Enum):
    RELU = "relu"
    GELU = "gelu"
    SWISH = "swish"


FUNCTIONS = {Kind.RELU: torch.relu, Kind.GELU: nn.functional.gelu, Kind.SWISH: nn.functional.silu}


@dataclass
class Settings:
    width: int
    inner: int
    activation: Kind = Kind.RELU
    bias: bool = False


class Network(nn.Module):
    def __init__(self, settings: Settings):
        super().__init__()
        self.into = nn.Linear(settings.width, settings.inner, bias=settings.bias)
        self.out = nn.Linear(settings.inner, settings.width, bias=settings.bias)
        self.function = FUNCTIONS[Kind(settings.activation)]

    def forward(self, x):
        return self.out(self.function(self.into(x)))
