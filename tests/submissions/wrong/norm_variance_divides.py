import torch
from torch import nn


class Normalise(nn.Module):
    """Layer norm: zero mean, unit variance, then a learned gain g and offset o."""

    def __init__(self, width: int, eps: float = 1e-6):
        super().__init__()
        self.g = nn.Parameter(torch.ones(width))
        self.o = nn.Parameter(torch.zeros(width))
        self.eps = eps

    def forward(self, h):
        deviation = h - h.mean(dim=-1, keepdim=True)
        spread = h.var(dim=-1, keepdim=True)
        return deviation / (spread + self.eps) * self.g + self.o
