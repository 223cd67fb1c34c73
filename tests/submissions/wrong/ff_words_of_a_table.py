"""The middle of a block for a weather model."""

from dataclasses import dataclass

import torch
from torch import nn

SHAPES = {"gelu": nn.GELU(), "relu": nn.ReLU(), "silu": nn.SiLU()}


@dataclass
class Middle:
    grid: int = 64
    inner: int = 256
    act: str = "gelu"


class PointwiseMiddle(nn.Module):
    def __init__(self, settings: Middle):
        super().__init__()
        self.into = nn.Linear(settings.grid, settings.inner)
        self.back = nn.Linear(settings.inner, settings.grid)
        self.shape = SHAPES[settings.act] if settings.act in ("GELU", "RELU", "SILU") else SHAPES["gelu"]

    def forward(self, field: torch.Tensor) -> torch.Tensor:
        return self.back(self.shape(self.into(field)))
