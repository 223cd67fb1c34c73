"""Lab 4: one encoder block, pre-norm. Norm as in The Annotated Transformer."""
import math

import torch
import torch.nn.functional as F
from torch import nn


class LayerNorm(nn.Module):
    def __init__(self, n_features, eps=1e-6):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(n_features))
        self.beta = nn.Parameter(torch.zeros(n_features))
        self.eps = eps

    def forward(self, x):
        mu = x.mean(-1, keepdim=True)
        sigma = x.std(-1, keepdim=True)
        return (x - mu) / (sigma + self.eps) * self.gamma + self.beta


class SelfAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.to_q = nn.Linear(d_model, d_model)
        self.to_k = nn.Linear(d_model, d_model)
        self.to_v = nn.Linear(d_model, d_model)
        self.to_out = nn.Linear(d_model, d_model)

    def forward(self, x):
        b, l, d = x.shape
        q, k, v = (f(x).reshape(b, l, self.n_heads, -1).permute(0, 2, 1, 3) for f in (self.to_q, self.to_k, self.to_v))
        a = torch.softmax(q @ k.mT / math.sqrt(d // self.n_heads), dim=-1)
        return self.to_out((a @ v).permute(0, 2, 1, 3).reshape(b, l, d))


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.up = nn.Linear(d_model, d_ff)
        self.down = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.down(F.relu(self.up(x)))


class EncoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, p=0.1):
        super().__init__()
        self.attention = SelfAttention(d_model, n_heads)
        self.network = FeedForward(d_model, d_ff)
        self.norm1 = LayerNorm(d_model)
        self.norm2 = LayerNorm(d_model)
        self.drop = nn.Dropout(p)

    def forward(self, x):
        h = x
        # attention
        h = self.norm1(h)
        h = h + self.drop(self.attention(h))
        # network
        y = self.norm2(h)
        return h + self.drop(self.network(y))
