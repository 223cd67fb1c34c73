import torch
from torch import nn


class RotaryDecoder(nn.Module):
    def __init__(self, dim: int, base: float = 10000.0):
        super().__init__()
        if dim % 2:
            raise ValueError("even, please")
        self.dim, self.base = dim, base

    def forward(self, x):
        """x: (batch, heads, time, dim)"""
        k = torch.arange(0, self.dim, 2, device=x.device, dtype=torch.float64)
        w = torch.arange(x.size(2), device=x.device, dtype=torch.float64).unsqueeze(1) * self.base ** (-k / self.dim)
        pairs = torch.view_as_complex(x.double().unflatten(3, (-1, 2)).contiguous())
        turned = torch.view_as_real(pairs * torch.polar(torch.ones_like(w), w)).flatten(3)
        return turned.squeeze().to(x.dtype)
