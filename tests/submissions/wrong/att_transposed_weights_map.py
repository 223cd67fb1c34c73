import torch
from torch import nn


class AttentionMap(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        assert d % heads == 0
        self.heads = heads
        self.q, self.k, self.v, self.o = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, query, memory):
        """-> output (B, L, d), map (B, heads, L, S)"""
        q, k, v = [t.unflatten(-1, (self.heads, -1)) for t in (self.q(query), self.k(memory), self.v(memory))]
        s = torch.einsum("blhd,bshd->bhls", q, k) / q.shape[-1] ** 0.5
        y = torch.einsum("bhls,bshd->blhd", s.softmax(-1), v).flatten(2)
        return self.o(y), s.softmax(-2)
