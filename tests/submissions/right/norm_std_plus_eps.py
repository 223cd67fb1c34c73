import torch
import torch.nn as nn


class LayerNorm(nn.Module):
    "See the section on residual connections."

    def __init__(self, features, eps=1e-6):
        super(LayerNorm, self).__init__()
        self.a_2 = nn.Parameter(torch.ones(features))
        self.b_2 = nn.Parameter(torch.zeros(features))
        self.eps = eps

    def forward(self, x):
        assert x.size(-1) == len(self.a_2)
        wide = x.double()
        mu, sigma = wide.mean(-1, keepdim=True), wide.std(-1, keepdim=True)
        y = (wide - mu) / (sigma + self.eps)
        return (y * self.a_2 + self.b_2).to(x.dtype)
