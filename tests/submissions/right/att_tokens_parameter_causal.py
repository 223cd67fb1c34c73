import torch
from torch import nn


class DecoderAttention(nn.Module):
    """For one sentence, shape (words, d_in); a word sees itself and what stands before it."""

    def __init__(self, d_in, d_out, context_length, dropout):
        super().__init__()
        self.wq = nn.Parameter(torch.randn(d_in, d_out) * 0.02)
        self.wk = nn.Parameter(torch.randn(d_in, d_out) * 0.02)
        self.wv = nn.Parameter(torch.randn(d_in, d_out) * 0.02)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1))

    def forward(self, x):
        words, _ = x.shape
        q, k, v = x @ self.wq, x @ self.wk, x @ self.wv
        scores = q @ k.transpose(0, 1)
        scores = scores.masked_fill(self.mask.bool()[:words, :words], -torch.inf)
        return self.dropout(torch.softmax(scores / k.shape[1] ** 0.5, dim=1)) @ v
