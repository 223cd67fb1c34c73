import torch
from torch import nn


class Head(nn.Module):
    """One causal head."""

    def __init__(self, d_in, d_out, context_length, dropout=0.0, qkv_bias=False):
        super().__init__()
        self.to_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.to_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.to_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.drop = nn.Dropout(dropout)
        self.register_buffer("future", torch.ones(context_length, context_length).triu(1).bool())

    def forward(self, x):
        length = x.size(1)
        scores = self.to_query(x) @ self.to_key(x).mT * self.to_key.out_features**-0.5
        scores = scores.masked_fill(self.future[:length, :length], float("-inf"))
        return self.drop(scores.softmax(dim=-1)) @ self.to_value(x)


class MultiHeadAttentionWrapper(nn.Module):
    """Heads one beside the other: (batch, length, num_heads * d_out) comes out."""

    def __init__(self, d_in, d_out, context_length, num_heads, dropout=0.0, qkv_bias=False):
        super().__init__()
        heads = [Head(d_in, d_out, context_length, dropout, qkv_bias) for _ in range(num_heads)]
        self.heads = nn.ModuleList(heads)

    def forward(self, x):
        return torch.cat([head(x) for head in self.heads], dim=-1)
