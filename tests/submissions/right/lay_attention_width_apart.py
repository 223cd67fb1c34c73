"""A layer whose attention works in a width of its own, and whose number of heads nobody can ask for."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class Heads(nn.Module):
    def __init__(self, outside, hidden_dim, count=16):
        super().__init__()
        if hidden_dim % count:
            raise ValueError(f"{count} heads do not divide {hidden_dim}")
        self.count = count
        self.to_queries = nn.Linear(outside, hidden_dim)
        self.to_keys = nn.Linear(outside, hidden_dim)
        self.to_values = nn.Linear(outside, hidden_dim)
        self.back = nn.Linear(hidden_dim, outside)

    def forward(self, tokens, ignore=None):
        q, k, v = (
            part(tokens).unflatten(-1, (self.count, -1)).movedim(-2, 1)
            for part in (self.to_queries, self.to_keys, self.to_values)
        )
        scores = torch.einsum("bhie,bhje->bhij", q, k) / math.sqrt(q.size(-1))
        if ignore is not None:
            scores = scores.masked_fill(ignore[:, None, None], -math.inf)
        seen = torch.einsum("bhij,bhje->bihe", scores.softmax(-1), v)
        return self.back(seen.flatten(-2))


class EncoderLayer(nn.Module):
    def __init__(self, seq_len, d_model, hidden_dim, proj_dim, dropout=0.0):
        super().__init__()
        self.seq_len = seq_len
        self.heads = Heads(d_model, hidden_dim)
        self.after_heads = nn.LayerNorm(d_model)
        self.wide, self.narrow = nn.Linear(d_model, proj_dim), nn.Linear(proj_dim, d_model)
        self.after_network = nn.LayerNorm(d_model)
        self.drop = nn.Dropout(dropout)

    def forward(self, tokens, padding_mask=None):
        if tokens.size(1) > self.seq_len:
            raise ValueError("too many tokens")
        tokens = self.after_heads(tokens + self.drop(self.heads(tokens, padding_mask)))
        return self.after_network(tokens + self.drop(self.narrow(F.relu(self.wide(tokens)))))
