"""Positions for a captioner: rates between two ends, evenly spaced as logarithms."""

import math

import torch
import torch.nn as nn


class RatePositions(nn.Module):
    def __init__(self, d_model, max_len=512, least=1e-3, most=1.0):
        super().__init__()
        t = 1 - torch.arange(d_model // 2) / (d_model // 2)
        slow, quick = math.log(least), math.log(most)
        rates = torch.exp(t * (quick - slow) + slow)
        angles = torch.arange(max_len)[:, None] * rates[None, :]
        self.register_buffer("table", torch.cat([angles.sin(), angles.cos()], dim=-1), persistent=False)

    def forward(self, x):
        return x + self.table[: x.size(1)].to(x.dtype)
