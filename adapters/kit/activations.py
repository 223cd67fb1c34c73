"""An activation that torch.nn has not, for adapters of layers that take any: as a function, and as a module."""

import torch
from torch import nn


def quick_gelu(x):
    return x * torch.sigmoid(1.702 * x)


class QuickGELU(nn.Module):
    def forward(self, x):
        return quick_gelu(x)
