"""Assignment 2: normalise the features of every token (no nn.LayerNorm allowed!)"""
import torch
from torch import nn


class Norm(nn.Module):
    def __init__(self, features, eps=1e-6):
        super().__init__()
        self.a_2 = nn.Parameter(torch.ones(features))
        self.b_2 = nn.Parameter(torch.zeros(features))
        self.size = features
        self.eps = eps

    def forward(self, x):
        assert x.shape[-1] == self.size
        kind = x.dtype
        if kind != torch.float64:
            x = x.to(torch.float32)
        mu = x.sum(dim=-1, keepdim=True) / self.size
        centred = x - mu
        sigma2 = (centred * centred).sum(dim=-1, keepdim=True) / self.size
        normed = centred * (sigma2 + self.eps).rsqrt()
        return (normed * self.a_2 + self.b_2).to(kind)
