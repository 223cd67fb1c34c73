"""A character model's layer, made for a live session."""

import torch
from torch import nn
from torch.nn import functional as F


class Layer(nn.Module):
    def __init__(self, channels, heads, window):
        super().__init__()
        self.heads = heads
        self.into = nn.Linear(channels, channels * 3, bias=False)
        self.out = nn.Linear(channels, channels)
        self.wide, self.narrow = nn.Linear(channels, channels * 4), nn.Linear(channels * 4, channels)
        self.steady = nn.LayerNorm(channels)
        self.register_buffer("past", torch.ones(window, window).tril().bool())

    def look_back(self, x):
        b, t, c = x.shape
        q, k, v = (p.view(b, t, self.heads, -1).transpose(1, 2) for p in self.into(x).chunk(3, dim=-1))
        w = (q @ k.mT / (c // self.heads) ** 0.5).masked_fill(~self.past[:t, :t], float("-inf"))
        return self.out((w.softmax(-1) @ v).transpose(1, 2).reshape(b, t, c))

    def forward(self, x):
        x = self.steady(x)
        x = x + self.look_back(x)
        x = self.steady(x)
        x = x + self.narrow(F.relu(self.wide(x)))
        return x
