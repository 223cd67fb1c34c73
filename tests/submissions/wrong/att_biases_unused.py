"""Multi-head attention from parameters; bias=True makes biases."""

import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        self.n_heads = n_heads
        self.w_q = nn.Parameter(torch.randn(d_model, d_model) / math.sqrt(d_model))
        self.w_k = nn.Parameter(torch.randn(d_model, d_model) / math.sqrt(d_model))
        self.w_v = nn.Parameter(torch.randn(d_model, d_model) / math.sqrt(d_model))
        self.w_o = nn.Parameter(torch.randn(d_model, d_model) / math.sqrt(d_model))
        if bias:
            self.b_q = nn.Parameter(torch.zeros(d_model))
            self.b_k = nn.Parameter(torch.zeros(d_model))
            self.b_v = nn.Parameter(torch.zeros(d_model))
            self.b_o = nn.Parameter(torch.zeros(d_model))

    def split(self, x):
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, query, key, value):
        q, k, v = self.split(query @ self.w_q), self.split(key @ self.w_k), self.split(value @ self.w_v)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        return (torch.softmax(scores, dim=-1) @ v).transpose(1, 2).flatten(2) @ self.w_o
