"""Relative attention: layers with ``owns_bias`` add a bias for each bucket of distances, the others read the encoder."""

import math

import torch
from torch import nn


class RelativeAttention(nn.Module):
    def __init__(self, dim, num_heads, is_decoder=False, owns_bias=False, max_distance=128):
        super().__init__()
        self.num_heads, self.is_decoder, self.max_distance = num_heads, is_decoder, max_distance
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(dim, dim, bias=False) for _ in range(4))
        self.bias = nn.Embedding(32, num_heads) if owns_bias else None

    def heads(self, x):
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def bucket(self, n):
        delta = torch.arange(n)[None] - torch.arange(n)[:, None]
        total = 32 if self.is_decoder else 16
        upper = 0 if self.is_decoder else total * (delta > 0)
        back = (-delta).clamp(min=0) if self.is_decoder else delta.abs()
        exact = total // 2
        log = torch.log(back.clamp(min=1) / exact) / math.log(self.max_distance / exact)
        return upper + torch.where(back < exact, back, (exact + (log * exact).long()).clamp(max=total - 1))

    def forward(self, x, context=None, mask=None):
        kv = x if context is None else context
        scores = self.heads(self.wq(x)) @ self.heads(self.wk(kv)).mT
        if self.bias is not None and context is None:
            scores = scores + self.bias(self.bucket(x.shape[1])).permute(2, 0, 1)
        else:
            scores = scores / math.sqrt(x.shape[-1] // self.num_heads)
        if mask is not None:
            scores = scores + mask
        return self.wo((scores.softmax(-1) @ self.heads(self.wv(kv))).transpose(1, 2).flatten(2))
