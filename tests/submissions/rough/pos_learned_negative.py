import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, dim, n):
        super().__init__()
        self.rows = nn.Parameter(torch.randn(n, dim) * 0.02)

    def forward(self, x, positions=None):
        """positions: (T,) or (B, T), for left-padded batches"""
        B, T, _ = x.shape
        if positions is None:
            positions = torch.arange(T, device=x.device)
        if positions.is_floating_point():
            raise TypeError("positions are integers")
        if tuple(positions.shape) not in {(T,), (B, T)}:
            raise ValueError("positions do not fit")
        return x + self.rows[positions]
