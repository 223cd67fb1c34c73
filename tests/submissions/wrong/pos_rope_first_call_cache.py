import torch
from torch import nn


class Rope(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.dim = cfg["head_dim"]
        self.theta = cfg.get("theta", 10000.0)
        self.cos = self.sin = None
        if self.dim % 2:
            raise ValueError("head_dim")

    def _make(self, n, device):
        inv = self.theta ** -(torch.arange(0, self.dim, 2, device=device, dtype=torch.float64) / self.dim)
        a = torch.outer(torch.arange(n, device=device, dtype=torch.float64), inv)
        self.cos, self.sin = a.cos(), a.sin()

    def forward(self, x):
        if self.cos is None:
            self._make(x.shape[-2], x.device)
        T = x.shape[-2]
        c, s = self.cos[:T].to(x.dtype), self.sin[:T].to(x.dtype)
        e, o = x[..., ::2], x[..., 1::2]
        return torch.stack([e * c - o * s, e * s + o * c], -1).flatten(-2)
