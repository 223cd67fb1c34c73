import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=512, learned=False):
        super().__init__()
        if learned:
            self.pe = nn.Parameter(torch.randn(max_len, d_model) * 0.02)
        else:
            pos = torch.arange(max_len).unsqueeze(1)
            div = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
            pe = torch.zeros(max_len, d_model)
            pe[:, 0::2] = torch.sin(pos * div)
            pe[:, 1::2] = torch.cos(pos * div)
            self.register_buffer("pe", pe)
        self.learned = learned

    def forward(self, x):
        if self.learned:
            return x + self.pe[: x.size(1)]
        return x + self.pe[: x.size(1)]
