import torch
import torch.nn as nn


class AttentionHead(nn.Module):
    def __init__(self, dim_in, dim_k):
        super().__init__()
        self.q = nn.Linear(dim_in, dim_k)
        self.k = nn.Linear(dim_in, dim_k)
        self.v = nn.Linear(dim_in, dim_k)

    def forward(self, query, key, value):
        q, k, v = self.q(query), self.k(key), self.v(value)
        return torch.softmax(q.bmm(k.transpose(1, 2)) / q.size(-1) ** 0.5, dim=-1).bmm(v)


class MultiHeadAttention(nn.Module):
    def __init__(self, num_heads, dim_in):
        super().__init__()
        if dim_in % num_heads:
            raise ValueError(dim_in, num_heads)
        self.heads = [AttentionHead(dim_in, dim_in // num_heads) for _ in range(num_heads)]
        self.linear = nn.Linear(dim_in, dim_in)

    def forward(self, query, key, value):
        return self.linear(torch.cat([h(query, key, value) for h in self.heads], dim=-1))
