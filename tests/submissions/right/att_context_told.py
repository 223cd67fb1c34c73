import math
import torch
import torch.nn as nn


class MultiHead(nn.Module):
    def __init__(self, seq_length, model_dim, n_heads, is_causal=False, p=0.0):
        super().__init__()
        self.n_heads = n_heads
        self.fc_q = nn.Linear(model_dim, model_dim)
        self.fc_k = nn.Linear(model_dim, model_dim)
        self.fc_v = nn.Linear(model_dim, model_dim)
        self.fc_o = nn.Linear(model_dim, model_dim)
        self.drop = nn.Dropout(p)
        self.seen = torch.tril(torch.ones(seq_length, seq_length)).bool() if is_causal else None

    def split(self, t):
        b, n, e = t.shape
        return t.reshape(b, n, self.n_heads, e // self.n_heads).permute(0, 2, 1, 3)

    def forward(self, query, key, value):
        q, k, v = self.split(self.fc_q(query)), self.split(self.fc_k(key)), self.split(self.fc_v(value))
        energy = torch.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(q.shape[-1])
        if self.seen is not None:
            energy = energy.masked_fill(~self.seen.to(energy.device), float("-inf"))
        context = torch.einsum("bhqk,bhkd->bqhd", self.drop(energy.softmax(-1)), v)
        return self.fc_o(context.flatten(2))
