import math
import torch
from torch import nn


class ALiBi(nn.Module):
    def __init__(self, n_heads, max_len=128):
        super().__init__()
        self.max_len = max_len
        self.register_buffer("slopes", torch.tensor(self._slopes(n_heads)))

    def _slopes(self, n):
        def pow2(m):
            start = 2.0 ** (-8.0 / m)
            return [start ** k for k in range(1, m + 1)]
        if n & (n - 1) == 0:
            return pow2(n)
        c = 2 ** math.floor(math.log2(n))
        return pow2(c) + pow2(2 * c)[: n - c]

    def forward(self, length):
        i = torch.arange(length, device=self.slopes.device)
        dist = (i[:, None] - i[None, :]).abs().to(self.slopes.dtype)
        return -dist[None] * self.slopes[:, None, None]
