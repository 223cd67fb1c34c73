import math
import torch
import torch.nn as nn


class RandomFourierFeatures(nn.Module):
    def __init__(self, in_dim, n_features, sigma=1.0):
        super().__init__()
        self.in_dim, self.n_features, self.sigma = in_dim, n_features, sigma

    def forward(self, x):
        B = torch.randn(self.n_features, self.in_dim, device=x.device, dtype=x.dtype) * self.sigma
        w = 2 * math.pi * x @ B.t()
        return torch.cat((w.cos(), w.sin()), dim=-1)
