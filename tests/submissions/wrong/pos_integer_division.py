import torch
from torch import nn


class PosEnc2(nn.Module):
    """rewritten from my old python 2 code"""

    def __init__(self, size, maxlen):
        super().__init__()
        table = torch.zeros(maxlen, size)
        pos = torch.arange(maxlen).float()
        for j in range(size):
            rate = 10000.0 ** (-(2 * (j // 2) // size))
            table[:, j] = torch.cos(pos * rate) if j % 2 else torch.sin(pos * rate)
        self.register_buffer("table", table)

    def forward(self, x):
        if x.size(1) > self.table.size(0):
            raise ValueError("maxlen")
        return x + self.table[: x.size(1), :]
