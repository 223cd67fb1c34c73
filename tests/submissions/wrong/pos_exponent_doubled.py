import math
import torch
import torch.nn as nn


class PositionalEncoder(nn.Module):
    """d_model must be even."""

    def __init__(self, d_model, max_seq_len=80):
        super().__init__()
        self.d_model = d_model
        pe = torch.zeros(max_seq_len, d_model)
        for pos in range(max_seq_len):
            for i in range(0, d_model, 2):
                angle = pos / (10000 ** ((2 * i) / d_model))
                pe[pos, i] = math.sin(angle)
                pe[pos, i + 1] = math.cos(angle)
        self.register_buffer('pe', pe)

    def forward(self, x):
        seq_len = x.shape[1]
        if seq_len > self.pe.shape[0]:
            raise ValueError('max_seq_len')
        return x + self.pe[:seq_len]
