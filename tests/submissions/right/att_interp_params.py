"""Circuits homework: every head has its own little matrices so that we can look at OV and QK."""
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class ToyConfig:
    resid: int = 48
    heads: int = 4
    d_head: int = 12
    std: float = 0.02


class ToyHeads(nn.Module):
    def __init__(self, cfg: ToyConfig):
        super().__init__()
        self.cfg = cfg

        def normal(*shape):
            return nn.Parameter(cfg.std * torch.randn(*shape))

        H, E, D = cfg.heads, cfg.resid, cfg.d_head
        self.W_Q, self.W_K, self.W_V = normal(H, E, D), normal(H, E, D), normal(H, E, D)
        self.W_O = normal(H, D, E)
        self.b_Q, self.b_K, self.b_V = normal(H, D), normal(H, D), normal(H, D)
        self.b_O = nn.Parameter(torch.zeros(E))

    def pattern(self, x):
        q = torch.einsum("nte,hed->nhtd", x, self.W_Q) + self.b_Q[:, None]
        k = torch.einsum("nte,hed->nhtd", x, self.W_K) + self.b_K[:, None]
        s = torch.einsum("nhtd,nhsd->nhts", q, k) / self.cfg.d_head ** 0.5
        t = x.shape[1]
        allowed = torch.arange(t, device=x.device)[:, None] >= torch.arange(t, device=x.device)
        return s.masked_fill(~allowed, -torch.inf).softmax(-1)

    def forward(self, resid_pre):
        v = torch.einsum("nte,hed->nhtd", resid_pre, self.W_V) + self.b_V[:, None]
        per_head = torch.einsum("nhts,nhsd,hde->nhte", self.pattern(resid_pre), v, self.W_O)
        return per_head.sum(dim=1) + self.b_O
