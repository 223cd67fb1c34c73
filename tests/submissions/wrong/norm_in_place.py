import torch
from torch import nn


class FastLayerNorm(nn.Module):
    """saves memory"""

    def __init__(self, size, *, eps=1e-5):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(size))
        self.beta = nn.Parameter(torch.zeros(size))
        self.eps = eps

    def forward(self, x):
        if x.shape[-1:] != self.gamma.shape:
            raise ValueError("size")
        x -= x.mean(dim=-1, keepdim=True)
        h = x.float() if x.dtype != torch.float64 else x
        h = h * torch.rsqrt(h.square().mean(-1, keepdim=True) + self.eps)
        return (h * self.gamma + self.beta).type(x.dtype)
