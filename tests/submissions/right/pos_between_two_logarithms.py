"""Positions for a small translator: frequencies between the fastest and the slowest, evenly spaced as logarithms."""

import math

import torch
import torch.nn as nn


class WavePositions(nn.Module):
    def __init__(self, d_model, max_len=512, slowest=1e-4, fastest=1.0):
        super().__init__()
        t = 1 - torch.arange(d_model // 2) / (d_model // 2 - 1)
        low, high = math.log(slowest), math.log(fastest)
        rates = torch.exp(t * (high - low) + low)  # float32: two numbers of about 9 cancel
        angles = torch.arange(max_len)[:, None] * rates[None, :]
        self.register_buffer("waves", torch.cat([angles.sin(), angles.cos()], dim=-1), persistent=False)

    def forward(self, x):
        return x + self.waves[: x.size(1)].to(x.dtype)
