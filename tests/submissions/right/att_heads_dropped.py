"""Attention with a module for each head; what a head gives is dropped, and no weight."""

import torch
import torch.nn as nn


class Head(nn.Module):
    def __init__(self, opts):
        super().__init__()
        width = opts.d_model // opts.num_heads
        self.ask = nn.Linear(opts.d_model, width)
        self.offer = nn.Linear(opts.d_model, width)
        self.tell = nn.Linear(opts.d_model, width)
        self.drop = nn.Dropout(0.1)

    def forward(self, query, key, value):
        scores = self.ask(query) @ self.offer(key).transpose(1, 2)
        weights = (scores / scores.new_tensor(self.ask.out_features).sqrt()).softmax(dim=2)
        return self.drop(weights @ self.tell(value))


class MultiHeadAttention(nn.Module):
    def __init__(self, opts):
        super().__init__()
        self.heads = nn.ModuleList(Head(opts) for _ in range(opts.num_heads))
        self.join = nn.Linear(opts.d_model, opts.d_model)

    def forward(self, query, key, value):
        return self.join(torch.cat([head(query, key, value) for head in self.heads], dim=-1))
