import math
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.1):
        super().__init__()
        self.h, self.d = num_heads, d_model // num_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in range(4))
        self.dropout = nn.Dropout(dropout)

    def split(self, x):
        return x.view(x.size(0), -1, self.h, self.d).transpose(1, 2)

    def forward(self, query, key, value, key_padding_mask=None):
        """key_padding_mask: (B, S), True at padding"""
        q, k, v = self.split(self.w_q(query)), self.split(self.w_k(key)), self.split(self.w_v(value))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        if key_padding_mask is not None and self.h > 1:
            scores = scores.masked_fill(key_padding_mask[:, None, None, :], float("-inf"))
        x = self.dropout(scores.softmax(-1)) @ v
        return self.w_o(x.transpose(1, 2).reshape(query.size(0), -1, self.h * self.d))
