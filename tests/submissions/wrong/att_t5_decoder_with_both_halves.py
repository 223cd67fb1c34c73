"""T5 self-attention; the scores stay as they are, without a division by sqrt(d)."""

import math

import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_kv, is_decoder=False, has_bias=True, dropout=0.0):
        super().__init__()
        self.n, self.is_decoder = n_heads, is_decoder
        self.q, self.k, self.v = (nn.Linear(d_model, n_heads * d_kv, bias=False) for _ in range(3))
        self.o = nn.Linear(n_heads * d_kv, d_model, bias=False)
        self.drop = nn.Dropout(dropout)
        self.rel = nn.Embedding(32, n_heads) if has_bias else None

    def positions(self, t):
        step = torch.arange(t)[None, :] - torch.arange(t)[:, None]
        far = 8 + (torch.log(step.abs().clamp(min=1) / 8) / math.log(16) * 8).long()
        return 16 * (step > 0) + torch.where(step.abs() < 8, step.abs(), far.clamp(max=15))

    def forward(self, x, mask=None, position_bias=None):
        b, t, _ = x.shape
        split = lambda y: y.view(b, t, self.n, -1).transpose(1, 2)
        if position_bias is None:
            if self.rel is None:
                raise ValueError("no table here: hand position_bias over")
            position_bias = self.rel(self.positions(t)).permute(2, 0, 1)[None]
        s = split(self.q(x)) @ split(self.k(x)).transpose(-1, -2) + position_bias
        if mask is not None:
            s = s.masked_fill(mask[:, None, None] == 0, -1e30)
        if self.is_decoder:
            s = s.masked_fill(torch.ones(t, t, dtype=torch.bool).triu(1), -1e30)
        y = self.drop(s.softmax(-1)) @ split(self.v(x))
        return self.o(y.transpose(1, 2).reshape(b, t, -1)), position_bias
