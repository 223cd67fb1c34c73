import torch
import torch.nn.functional as F
from torch import nn


class PositionWise(nn.Module):
    def __init__(self, size: int, inner: int, p: float = 0.1):
        super().__init__()
        self.up = nn.Linear(size, inner)
        self.down = nn.Linear(inner, size)
        self.p = p

    def forward(self, x):
        h = F.gelu(self.up(x))
        h = F.dropout(h, p=self.p)
        return self.down(h)
