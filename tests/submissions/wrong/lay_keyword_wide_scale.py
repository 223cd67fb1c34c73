"""Encoder for the retrieval group: every class takes keyword arguments and picks what it knows."""

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, **kw):
        super().__init__()
        width, self.heads = kw.get("d_model", 256), kw.get("n_heads", 8)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.drop = nn.Dropout(kw.get("dropout", 0.1))

    def forward(self, x, keep=None):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = q @ k.mT / width ** 0.5
        if keep is not None:
            scores = scores.masked_fill(keep[:, None, None, :] == 0, float("-inf"))
        mixed = self.drop(scores.softmax(-1)) @ v
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


class Layer(nn.Module):
    def __init__(self, **kw):
        super().__init__()
        width, inner = kw.get("d_model", 256), kw.get("d_ff", 1024)
        self.attention = Attention(**kw)
        self.network = nn.Sequential(nn.Linear(width, inner), nn.ReLU(), nn.Linear(inner, width))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.drop = nn.Dropout(kw.get("dropout", 0.1))

    def forward(self, x, keep=None):
        x = self.norms[0](x + self.drop(self.attention(x, keep)))
        return self.norms[1](x + self.drop(self.network(x)))


class TextEncoder(nn.Module):
    def __init__(self, **kw):
        super().__init__()
        self.layers = nn.ModuleList(Layer(**kw) for _ in range(kw.get("n_layers", 6)))

    def forward(self, x, keep=None):
        for layer in self.layers:
            x = layer(x, keep)
        return x
