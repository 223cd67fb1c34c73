import numbers
import torch
from torch import nn


class LayerNorm(nn.Module):
    """same arguments as torch's"""

    def __init__(self, normalized_shape, eps=1e-5):
        super().__init__()
        if isinstance(normalized_shape, numbers.Integral):
            normalized_shape = (normalized_shape,)
        self.normalized_shape = tuple(normalized_shape)
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(*self.normalized_shape))
        self.bias = nn.Parameter(torch.zeros(*self.normalized_shape))

    def forward(self, x):
        if tuple(x.shape[-len(self.normalized_shape):]) != self.normalized_shape:
            raise ValueError("shape")
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        mean = wide.mean(-1, keepdim=True)
        var = wide.var(-1, keepdim=True, unbiased=False)
        return (self.weight * (wide - mean) / torch.sqrt(var + self.eps) + self.bias).to(x.dtype)
