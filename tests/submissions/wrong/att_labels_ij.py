import torch
from torch import nn


class ToHeads(nn.Module):
    def __init__(self, width: int, heads: int, bias: bool):
        super().__init__()
        self.lin = nn.Linear(width, width, bias=bias)
        self.heads = heads

    def forward(self, x):
        return self.lin(x).unflatten(-1, (self.heads, -1))


class SeqFirstAttention(nn.Module):
    """everything is (time, batch, width); call with keywords"""

    def __init__(self, heads: int, width: int, dropout: float = 0.0, bias: bool = True):
        super().__init__()
        if width % heads:
            raise ValueError("width % heads")
        self.f, self.g, self.h = (ToHeads(width, heads, bias) for _ in range(3))
        self.final = nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)
        self.norm = nn.Softmax(dim=0)

    def forward(self, *, query, key, value):
        q, k, v = self.f(query), self.g(key), self.h(value)
        # i: time of the query, j: time of the key, n: sample, a: head
        s = torch.einsum('inad,jnad->ijna', q, k) * q.shape[-1] ** -0.5
        w = self.dropout(self.norm(s))
        y = torch.einsum('ijna,jnad->inad', w, v)
        return self.final(y.flatten(2))
