import torch
from torch import nn


class RoPE(nn.Module):
    """features (i, i + d/2) are rotated together"""

    def __init__(self, d: int, base: int = 10_000):
        super().__init__()
        assert d % 2 == 0
        self.d = d
        self.base = base

    def forward(self, x: torch.Tensor):
        seq_len = x.shape[-2]
        theta = 1. / self.base ** (torch.arange(0, self.d, 2, device=x.device).double() / self.d)
        idx_theta = torch.outer(torch.arange(seq_len, device=x.device).double(), theta)
        half = self.d // 2
        cos = torch.ones(seq_len, self.d, dtype=torch.double, device=x.device)
        sin = torch.zeros(seq_len, self.d, dtype=torch.double, device=x.device)
        cos[:, :half], sin[:, :half] = idx_theta.cos(), idx_theta.sin()
        neg_half = torch.cat([-x[..., half:], x[..., :half]], dim=-1)
        return x * cos.to(x.dtype) + neg_half * sin.to(x.dtype)
