import torch
from torch import nn


class OnTheFlyPositions(nn.Module):
    """no max_len: the encoding is computed for what comes in"""

    def __init__(self, dim, theta=10000):
        super().__init__()
        inv_freq = 1.0 / theta ** (torch.arange(0, dim, 2).float() / dim)
        self.register_buffer("inv_freq", inv_freq)
        self.dim = dim

    def forward(self, x):
        t = torch.arange(x.size(1), device=x.device).type_as(self.inv_freq)
        angle = torch.einsum("i,j->ij", t, self.inv_freq)
        pe = torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(-2)
        return x + pe[:, : self.dim].to(x.dtype)
