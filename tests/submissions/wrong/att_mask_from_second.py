"""Scaled dot-product attention and its heads, with a mask (batch, queries, keys) of booleans."""

import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.qkv = nn.Linear(embed_dim, 3 * embed_dim)
        self.proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, mask=None):
        B, L, E = x.shape
        q, k, v = self.qkv(x).reshape(B, L, 3, self.num_heads, E // self.num_heads).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / math.sqrt(E // self.num_heads)
        if mask is not None:
            scores = scores.masked_fill(~mask[1:].unsqueeze(1), float("-inf"))
        out = torch.softmax(scores, dim=-1) @ v
        return self.proj(out.transpose(1, 2).reshape(B, L, E))
