import math
import torch
import torch.nn.functional as F
from torch import nn


class PositionalEncoding(nn.Module):
    def __init__(self, d_model: int, dropout: float = 0.1, max_len: int = 5000):
        super().__init__()
        self.p = dropout
        self.register_buffer("pe", self.make(d_model, max_len))

    @staticmethod
    def make(d_model, max_len):
        pos = torch.arange(max_len)[:, None]
        w = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        table = torch.zeros(max_len, d_model)
        table[:, 0::2] = torch.sin(pos * w)
        table[:, 1::2] = torch.cos(pos * w)
        return table

    def forward(self, x):
        """x: (batch, length, d_model)"""
        if x.size(1) > len(self.pe):
            raise ValueError("longer than max_len")
        return F.dropout(x + self.pe[: x.size(1)], self.p)
