# works for every width, the odd ones too
import torch
from torch import nn


class AnyWidthPositions(nn.Module):
    def __init__(self, width, longest=1000, base=10000.0):
        super().__init__()
        self.width = width
        pairs = width // 2
        p = torch.arange(longest, dtype=torch.float64).unsqueeze(1)
        i = torch.arange(pairs, dtype=torch.float64).unsqueeze(0)
        angle = p / base ** (2 * i / width)
        table = torch.zeros(longest, width, dtype=torch.float64)
        table[:, 0 : 2 * pairs : 2] = angle.sin()
        table[:, 1 : 2 * pairs : 2] = angle.cos()
        self.register_buffer("table", table.float())

    def forward(self, x):
        n = x.shape[1]
        if n > self.table.shape[0]:
            raise ValueError(n)
        return x + self.table[:n].to(x.dtype)
