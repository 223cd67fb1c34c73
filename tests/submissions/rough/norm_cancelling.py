import torch
from torch import nn


class OnePassLayerNorm(nn.Module):
    """mean and variance in one pass over the data: var = E[x^2] - E[x]^2"""

    def __init__(self, c, eps=1e-5):
        super().__init__()
        self.c = c
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(c))
        self.bias = nn.Parameter(torch.zeros(c))

    def forward(self, x):
        if x.shape[-1] != self.c:
            raise ValueError(self.c)
        f = x if x.dtype == torch.float64 else x.float()
        s1 = f.sum(-1, keepdim=True) / self.c
        s2 = (f * f).sum(-1, keepdim=True) / self.c
        out = (f - s1) * torch.rsqrt(s2 - s1 * s1 + self.eps)
        return (out * self.weight + self.bias).to(x.dtype)
