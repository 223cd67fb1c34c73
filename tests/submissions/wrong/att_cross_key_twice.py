import torch
from torch import nn


class CrossAttention(nn.Module):
    def __init__(self, dim, n_heads):
        super().__init__()
        assert dim % n_heads == 0
        self.n_heads = n_heads
        self.Wq, self.Wk = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.Wv, self.Wo = nn.Linear(dim, dim), nn.Linear(dim, dim)

    def heads(self, t):
        return t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, x, memory):
        q = self.heads(self.Wq(x))
        k = self.heads(self.Wk(memory))
        v = self.heads(self.Wk(memory))
        att = torch.softmax(q @ k.mT * q.shape[-1] ** -0.5, dim=-1)
        return self.Wo((att @ v).transpose(1, 2).flatten(2))
