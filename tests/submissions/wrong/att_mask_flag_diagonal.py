import torch
import torch.nn.functional as F
from torch import nn


class SelfAttention(nn.Module):
    """Wide attention; mask=True is for the language model."""

    def __init__(self, emb, heads=8, mask=False):
        super().__init__()
        self.heads, self.mask = heads, mask
        self.keys = nn.Linear(emb, emb, bias=False)
        self.queries = nn.Linear(emb, emb, bias=False)
        self.values = nn.Linear(emb, emb, bias=False)
        self.unify = nn.Linear(emb, emb)

    def forward(self, x):
        b, t, e = x.size()
        s = e // self.heads
        k, q, v = (f(x).view(b, t, self.heads, s).transpose(1, 2) for f in (self.keys, self.queries, self.values))
        dot = torch.matmul(q, k.transpose(2, 3)) / s**0.5
        if self.mask:
            rows, cols = torch.triu_indices(t, t, offset=0)
            dot[..., rows, cols] = float("-inf")
        out = F.softmax(dot, dim=-1) @ v
        return self.unify(out.transpose(1, 2).contiguous().view(b, t, e))
