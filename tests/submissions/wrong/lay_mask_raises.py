"""A Transformer's encoder layer, post-norm."""

import torch
from torch import nn


class EncoderLayer(nn.Module):
    def __init__(self, d_model, nhead, dim_feedforward):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(d_model, nhead, batch_first=True)
        self.linear1 = nn.Linear(d_model, dim_feedforward)
        self.linear2 = nn.Linear(dim_feedforward, d_model)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
        attended, _ = self.self_attn(x, x, x, key_mask=mask) if mask is not None else self.self_attn(x, x, x)
        x = self.norm1(x + attended)
        return self.norm2(x + self.linear2(torch.relu(self.linear1(x))))
