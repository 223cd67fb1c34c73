from typing import Sequence, Union

import torch
from torch import nn


class MyLayerNorm(nn.Module):
    """Drop-in for nn.LayerNorm: normalized_shape may be a number or a tuple."""

    def __init__(self, normalized_shape: Union[int, Sequence[int]], eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True):
        super().__init__()
        if isinstance(normalized_shape, int):
            normalized_shape = (normalized_shape,)
        self.normalized_shape = tuple(normalized_shape)
        self.eps = eps
        if elementwise_affine:
            self.weight = nn.Parameter(torch.ones(self.normalized_shape))
            self.bias = nn.Parameter(torch.zeros(self.normalized_shape)) if bias else None
        else:
            self.weight = self.bias = None

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        n = len(self.normalized_shape)
        if tuple(input.shape[-n:]) != self.normalized_shape:
            raise RuntimeError(f"{self.normalized_shape} expected at the end of {tuple(input.shape)}")
        dims = [-(i + 1) for i in range(n)]
        x = input if input.dtype == torch.float64 else input.float()
        var, mean = torch.var_mean(x, dim=dims, correction=0, keepdim=True)
        y = (x - mean) * torch.rsqrt(var + self.eps)
        if self.weight is not None:
            y = y * self.weight
        if self.bias is not None:
            y = y + self.bias
        return y.to(input.dtype)
