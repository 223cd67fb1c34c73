import math
from copy import deepcopy

import torch
import torch.nn as nn


def dot_attention(q, k, v, mask, drop):
    logits = q.matmul(k.transpose(-2, -1)).div(math.sqrt(q.shape[-1]))
    if mask is not None:
        logits = logits.masked_fill(mask == 0, -1e9)
    p = logits.softmax(-1)
    return drop(p).matmul(v), p


class MultiHeaded(nn.Module):
    """h heads over d_model features. The four matrices live in one list: q, k, v, out."""

    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        assert d_model % h == 0
        self.h = h
        proto = nn.Linear(d_model, d_model)
        self.mats = nn.ModuleList(deepcopy(proto) for _ in range(4))
        self.drop = nn.Dropout(dropout)
        self.last = None

    def forward(self, query, key, value, mask=None):
        n = query.shape[0]
        if mask is not None:
            mask = mask.unsqueeze(1)  # (n, 1, q, k) -> every head sees the same
        cut = []
        for mat, x in zip(self.mats, (query, key, value)):
            cut.append(mat(x).view(n, -1, self.h, x.shape[-1] // self.h).transpose(1, 2))
        y, self.last = dot_attention(*cut, mask, self.drop)
        y = y.transpose(1, 2).contiguous().view(n, -1, y.shape[-1] * self.h)
        return self.mats[3](y)
