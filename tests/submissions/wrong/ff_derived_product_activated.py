import math

import torch
from torch import nn


def inner_width(outer, block=32):
    """Two thirds of four times, up to whole blocks."""
    return block * math.ceil(outer * 8 / 3 / block)


class Swi(nn.Module):
    def __init__(self, outer):
        super().__init__()
        inner = inner_width(outer)
        self.a, self.b = nn.Linear(outer, inner, bias=False), nn.Linear(outer, inner, bias=False)
        self.back = nn.Linear(inner, outer, bias=False)

    def forward(self, x):
        product = self.a(x) * self.b(x)
        return self.back(product * torch.sigmoid(product))
