import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, dim: int, eps: float = 1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def _unit(self, x):
        return torch.rsqrt((x * x).mean(-1, keepdim=True) + self.eps) * x

    def forward(self, x):
        if x.shape[-1] != self.weight.shape[0]:
            raise ValueError(f"expected {self.weight.shape[0]} features, got {x.shape[-1]}")
        wide = x if x.dtype == torch.double else x.float()
        return self.weight * self._unit(wide).type_as(x)
