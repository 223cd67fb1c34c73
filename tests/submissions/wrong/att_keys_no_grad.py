import torch
from torch import nn


class MemoryAttention(nn.Module):
    """Queries come from the decoder; keys and values of the memory."""

    def __init__(self, n_features: int, n_heads: int):
        super().__init__()
        assert n_features % n_heads == 0
        self.n_heads = n_heads
        self.q = nn.Linear(n_features, n_features)
        self.k = nn.Linear(n_features, n_features)
        self.v = nn.Linear(n_features, n_features)
        self.out = nn.Linear(n_features, n_features)

    @torch.no_grad()
    def memory_keys(self, memory):
        return self.k(memory).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, x, memory):
        q = self.q(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        k = self.memory_keys(memory)
        v = self.v(memory).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        w = (q @ k.transpose(2, 3) / q.size(-1) ** 0.5).softmax(dim=-1)
        return self.out((w @ v).transpose(1, 2).flatten(2))
