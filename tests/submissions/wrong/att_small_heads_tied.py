import torch
import torch.nn as nn


class PerHeadAttention(nn.Module):
    def __init__(self, embed_size, heads):
        super().__init__()
        assert embed_size % heads == 0
        self.heads = heads
        part = embed_size // heads
        self.lin_v = nn.Linear(part, part, bias=False)
        self.lin_k = nn.Linear(part, part, bias=False)
        self.lin_q = nn.Linear(part, part, bias=False)
        self.out = nn.Linear(embed_size, embed_size)

    def pieces(self, x):
        return x.reshape(x.size(0), x.size(1), self.heads, -1).transpose(1, 2)

    def forward(self, values, keys, query, mask=None):
        v = self.lin_v(self.pieces(values))
        k = self.lin_k(self.pieces(keys))
        q = self.lin_q(self.pieces(query))
        e = q @ k.mT
        if mask is not None:
            e = e.masked_fill(mask == 0, -1e20)
        w = torch.softmax(e / q.size(-1) ** 0.5, dim=-1)
        return self.out((w @ v).transpose(1, 2).flatten(2))
