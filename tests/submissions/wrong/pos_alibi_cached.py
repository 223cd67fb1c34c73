import torch
from torch import nn


class AlibiBias(nn.Module):
    """bias(T) -> (1, H, T, T), kept between calls"""

    def __init__(self, heads):
        super().__init__()
        p = 2 ** (heads.bit_length() - 1)
        s = [2 ** (-8 * (k + 1) / p) for k in range(p)] + [2 ** (-4 * (2 * k + 1) / p) for k in range(heads - p)]
        self.s = torch.tensor(s).view(1, heads, 1, 1)
        self.bias = None

    def forward(self, T):
        if self.bias is None or self.bias.size(-1) < T:
            pos = torch.arange(T)
            self.bias = -self.s * (pos[None, :] - pos[:, None]).abs()
        return self.bias[:, :, :T, -T:]
