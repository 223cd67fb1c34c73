import math
import torch
from torch import nn


class PositionalEncoding(nn.Module):
    """Input and output: (batch, tokens, dim)"""

    def __init__(self, dim, max_tokens=1024):
        super().__init__()
        pe = torch.zeros(max_tokens, dim)
        p = torch.arange(max_tokens).unsqueeze(1)
        d = torch.exp(torch.arange(0, dim, 2) * -(math.log(1e4) / dim))
        pe[:, 0::2] = torch.sin(p * d)
        pe[:, 1::2] = torch.cos(p * d)
        self.register_buffer("pe", pe.unsqueeze(1))

    def forward(self, x):
        return x + self.pe[: x.size(1)]
