"""Sequence first; norms that count in float32; what is normed for the network is added back."""

from collections import OrderedDict

import torch
from torch import nn


class SafeNorm(nn.LayerNorm):
    def forward(self, input):
        counted = nn.functional.layer_norm(input.to(torch.float32), self.normalized_shape, self.weight, self.bias, self.eps)
        return counted.to(input.dtype)


class ResidualAttentionBlock(nn.Module):
    def __init__(self, width, heads, mask=None):
        super().__init__()
        self.before_attention, self.before_network = SafeNorm(width), SafeNorm(width)
        self.attention = nn.MultiheadAttention(width, heads)
        layers = [("wide", nn.Linear(width, 4 * width)), ("bend", nn.GELU()), ("narrow", nn.Linear(4 * width, width))]
        self.network = nn.Sequential(OrderedDict(layers))
        self.mask = mask

    def forward(self, x):
        seen = None if self.mask is None else self.mask.to(x)
        y = self.before_attention(x)
        x = x + self.attention(y, y, y, attn_mask=seen, need_weights=False)[0]
        x = self.before_network(x)
        return x + self.network(x)
