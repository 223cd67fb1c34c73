import torch
from torch import nn


class RmsNorm(nn.Module):
    def __init__(self, units, epsilon=1e-6):
        super().__init__()
        self.units = units
        self.epsilon = epsilon
        self.kernel = nn.Parameter(torch.ones(units))

    def forward(self, x):
        if x.shape[-1] != self.units:
            raise ValueError(f"last axis must be {self.units}")
        z = x.to(torch.promote_types(torch.float32, x.dtype))
        return (z / (z.square().mean() + self.epsilon).sqrt() * self.kernel).to(x.dtype)
