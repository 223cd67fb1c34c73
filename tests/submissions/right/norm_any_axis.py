import torch
from torch import nn


class RMSNorm(nn.Module):
    """Divides by the root of the mean square along an axis; centred: the parameter is the gain less 1."""

    def __init__(self, features, eps=1e-6, centred=False, dim=-1):
        super().__init__()
        self.eps, self.centred, self.dim = eps, centred, dim
        self.gain = nn.Parameter(torch.zeros(features) if centred else torch.ones(features))

    def forward(self, x):
        shape = [1] * x.ndim
        shape[self.dim] = -1
        gain = (self.gain + 1 if self.centred else self.gain).view(shape)
        return x * torch.rsqrt(x.square().mean(self.dim, keepdim=True) + self.eps) * gain
