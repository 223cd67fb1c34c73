"""Prenorm encoder block; in training a branch is skipped for some of the samples."""

import torch
import torch.nn.functional as F
from torch import nn


class StochasticDepth(nn.Module):
    """Those samples whose branch survives are made larger, so that evaluation needs no change."""

    def __init__(self, rate):
        super().__init__()
        self.rate = rate

    def forward(self, branch):
        if not self.training or self.rate <= 0:
            return branch
        survives = 1 - self.rate
        coin = torch.rand(len(branch), *[1] * (branch.dim() - 1), device=branch.device) < survives
        return branch * coin.to(branch.dtype) * survives


class SkippingBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_hidden, rate=0.0):
        super().__init__()
        self.ln_att, self.ln_ff = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.att = nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        self.up, self.down = nn.Linear(d_model, d_hidden), nn.Linear(d_hidden, d_model)
        self.skip = StochasticDepth(rate)

    def forward(self, x):
        y = self.ln_att(x)
        x = x + self.skip(self.att(y, y, y, need_weights=False)[0])
        return x + self.skip(self.down(F.relu(self.up(self.ln_ff(x)))))
