import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=5000, batch_first=True):
        super().__init__()
        self.batch_first = batch_first
        pos = torch.arange(max_len).float()[:, None]
        freq = 10000.0 ** (-torch.arange(0, d_model, 2).float() / d_model)
        pe = torch.stack([torch.sin(pos * freq), torch.cos(pos * freq)], -1).flatten(1)
        self.register_buffer("pe", pe)

    def forward(self, x):
        if self.batch_first:
            return x + self.pe[: x.size(1)]
        return x + self.pe[: x.size(1)]
