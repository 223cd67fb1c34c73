"""Both kinds of positions behind one interface, chosen by name."""
from abc import ABC, abstractmethod
from enum import Enum

import torch
from torch import nn


class Kind(Enum):
    FIXED = "fixed"
    TRAINED = "trained"


class PositionBase(nn.Module, ABC):
    def __init__(self, size: int, capacity: int):
        super().__init__()
        self.size, self.capacity = size, capacity

    @abstractmethod
    def rows(self, count: int) -> torch.Tensor:
        ...

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        count = x.shape[1]
        if count > self.capacity:
            raise ValueError(f"capacity is {self.capacity}")
        return x + self.rows(count).to(x.dtype)


class FixedPositions(PositionBase):
    def rows(self, count):
        column = torch.arange(self.size)
        angle = torch.arange(count).double().unsqueeze(1) / 10000.0 ** ((column - column % 2) / self.size).double()
        return torch.where(column % 2 == 0, angle.sin(), angle.cos())


class TrainedPositions(PositionBase):
    def __init__(self, size, capacity):
        super().__init__(size, capacity)
        self.table = nn.Embedding(capacity, size)

    def rows(self, count):
        return self.table.weight[:count]


def make_positions(kind: Kind, size: int, capacity: int) -> PositionBase:
    return {Kind.FIXED: FixedPositions, Kind.TRAINED: TrainedPositions}[kind](size, capacity)
