"""T5's attention, for the encoder and both parts of the decoder. Scores are not divided."""

import math

import torch
import torch.nn as nn


class T5Attention(nn.Module):
    def __init__(self, d_model, d_kv, num_heads, is_decoder=False):
        super().__init__()
        self.h, self.d, self.is_decoder = num_heads, d_kv, is_decoder
        self.q = nn.Linear(d_model, num_heads * d_kv, bias=False)
        self.k = nn.Linear(d_model, num_heads * d_kv, bias=False)
        self.v = nn.Linear(d_model, num_heads * d_kv, bias=False)
        self.o = nn.Linear(num_heads * d_kv, d_model, bias=False)
        self.bias = nn.Embedding(32, num_heads)

    def bucket(self, rel):
        n, base = 32, 0
        if not self.is_decoder:
            n = 16
            base = n * (rel > 0).long()
            rel = rel.abs()
        else:
            rel = -torch.minimum(rel, torch.zeros_like(rel))
        m = n // 2
        large = m + (torch.log(rel.clamp(min=1) / m) / math.log(128 / m) * (n - m)).long()
        return base + torch.where(rel < m, rel, large.clamp(max=n - 1))

    def forward(self, x, key_value_states=None, mask=None):
        kv = x if key_value_states is None else key_value_states
        b, t, s = x.size(0), x.size(1), kv.size(1)
        q = self.q(x).view(b, t, self.h, self.d).transpose(1, 2)
        k = self.k(kv).view(b, s, self.h, self.d).transpose(1, 2)
        v = self.v(kv).view(b, s, self.h, self.d).transpose(1, 2)
        scores = q @ k.transpose(2, 3)
        rel = torch.arange(s)[None, :] - torch.arange(t)[:, None]
        scores = scores + self.bias(self.bucket(rel)).permute(2, 0, 1)[None]
        if mask is not None:
            scores = scores + mask
        out = (scores.softmax(dim=-1) @ v).transpose(1, 2).reshape(b, t, -1)
        return self.o(out)
