import torch.nn as nn
import copy


def clones(module, n):
    return nn.ModuleList([module for _ in range(n)])


class EncoderLayer(nn.Module):
    def __init__(self, size, heads, d_ff, dropout=0.1):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(size, heads, dropout=dropout, batch_first=True)
        self.feed_forward = nn.Sequential(nn.Linear(size, d_ff), nn.ReLU(), nn.Dropout(dropout), nn.Linear(d_ff, size))
        self.norms = clones(nn.LayerNorm(size), 2)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        y = self.norms[0](x)
        x = x + self.dropout(self.self_attn(y, y, y, key_padding_mask=mask)[0])
        return x + self.dropout(self.feed_forward(self.norms[1](x)))
