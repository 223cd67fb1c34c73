import torch
import torch.nn as nn
import torch.nn.functional as F


class MultiHeadAttention(nn.Module):
    def __init__(self, n_units, n_heads, attn_p=0.1):
        super().__init__()
        self.n_heads, self.attn_p = n_heads, attn_p
        if n_units % n_heads != 0:
            raise ValueError("n_units and n_heads do not fit")
        self.wq = nn.Linear(n_units, n_units)
        self.wk = nn.Linear(n_units, n_units)
        self.wv = nn.Linear(n_units, n_units)
        self.wo = nn.Linear(n_units, n_units)

    def forward(self, q, k, v, mask=None):
        split = lambda x: x.unflatten(-1, (self.n_heads, -1)).transpose(-3, -2)
        q, k, v = split(self.wq(q)), split(self.wk(k)), split(self.wv(v))
        logits = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
        if mask is not None:
            logits = logits.masked_fill(~mask, float("-inf"))
        weights = F.dropout(F.softmax(logits, dim=-1), p=self.attn_p)
        return self.wo((weights @ v).transpose(-3, -2).flatten(-2))
