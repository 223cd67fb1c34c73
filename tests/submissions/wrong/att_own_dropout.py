import torch
import torch.nn as nn


class MyDropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        if not self.training:
            return x
        return x * (torch.rand_like(x) >= self.p).to(x.dtype)


class Attention(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout = MyDropout(dropout)

    def forward(self, Q, K, V, mask=None):
        scores = Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores + mask
        return self.dropout(scores.softmax(-1)) @ V
