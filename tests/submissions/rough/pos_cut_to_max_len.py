import math, torch
from torch import nn

class PosEmbed(nn.Module):
    def __init__(self, max_len, dim):
        super().__init__()
        self.max_len = max_len
        t = torch.arange(max_len, dtype=torch.float)[:, None]
        w = torch.exp(-math.log(1e4) / dim * torch.arange(0, dim, 2, dtype=torch.float))
        tab = torch.zeros(max_len, dim)
        tab[:, ::2] = (t * w).sin()
        tab[:, 1::2] = (t * w).cos()
        self.register_buffer('tab', tab)

    def forward(self, x):
        x = x[:, :self.max_len]
        return x + self.tab[:x.size(1)]
