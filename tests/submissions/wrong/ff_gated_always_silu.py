import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, activation="silu", gated=True):
        super().__init__()
        self.act = {"relu": F.relu, "gelu": F.gelu, "silu": F.silu}[activation]
        self.gated = gated
        self.w1 = nn.Linear(d_model, d_ff)
        self.w2 = nn.Linear(d_ff, d_model)
        if gated:
            self.w3 = nn.Linear(d_model, d_ff)

    def forward(self, x):
        if self.gated:
            return self.w2(F.silu(self.w1(x)) * self.w3(x))
        return self.w2(self.act(self.w1(x)))
