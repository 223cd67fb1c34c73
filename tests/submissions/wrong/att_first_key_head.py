import torch
import torch.nn as nn


class MultiHead(nn.Module):
    def __init__(self, dim: int, n: int):
        super().__init__()
        assert dim % n == 0
        d = dim // n
        self.qs = nn.ModuleList(nn.Linear(dim, d) for _ in range(n))
        self.ks = nn.ModuleList(nn.Linear(dim, d) for _ in range(n))
        self.vs = nn.ModuleList(nn.Linear(dim, d) for _ in range(n))
        self.o = nn.Linear(dim, dim)

    def forward(self, query, key, value):
        heads = []
        for i, (fq, fv) in enumerate(zip(self.qs, self.vs)):
            fk = self.ks[0]
            q, k, v = fq(query), fk(key), fv(value)
            heads.append(torch.softmax(q @ k.transpose(1, 2) / q.shape[-1] ** 0.5, dim=-1) @ v)
        return self.o(torch.cat(heads, dim=-1))
