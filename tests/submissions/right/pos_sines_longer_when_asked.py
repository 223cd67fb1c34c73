"""Sinusoidal positions whose table is made for 64 tokens, and grows."""

import torch
from torch import nn


class GrowingSines(nn.Module):
    def __init__(self, d_model: int, first: int = 64):
        super().__init__()
        self.d_model = d_model
        self.table = self.make(range(first))

    def make(self, positions):
        at = torch.tensor(list(positions), dtype=torch.float64)[:, None]
        angle = at / 10000 ** (torch.arange(0, self.d_model, 2, dtype=torch.float64) / self.d_model)
        rows = torch.empty(len(at), self.d_model, dtype=torch.float64)
        rows[:, 0::2], rows[:, 1::2] = angle.sin(), angle.cos()
        return rows

    def forward(self, x):
        """x: (batch, tokens, d_model)"""
        n = len(self.table)
        if x.shape[1] > n:
            self.table = torch.cat([self.table, self.make(range(n, x.shape[1]))])
        return x + self.table[: x.shape[1]].to(x)
