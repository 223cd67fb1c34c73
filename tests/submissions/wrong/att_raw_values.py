import torch
from torch import nn


class MHSA(nn.Module):
    def __init__(self, opts):
        super().__init__()
        self.dim = opts.dim
        self.nheads = opts.nheads
        assert self.dim % self.nheads == 0
        self.dh = self.dim // self.nheads
        self.lin_q = nn.Linear(self.dim, self.dim, bias=opts.bias)
        self.lin_k = nn.Linear(self.dim, self.dim, bias=opts.bias)
        self.lin_v = nn.Linear(self.dim, self.dim, bias=opts.bias)
        self.lin_out = nn.Linear(self.dim, self.dim, bias=opts.bias)

    def forward(self, query, key, value):
        Q = self.lin_q(query)
        K = self.lin_k(key)
        V = self.lin_v(value)
        results = []
        for Qh, Kh, Vh in zip(Q.split(self.dh, -1), K.split(self.dh, -1), value.split(self.dh, -1)):
            w = torch.softmax(Qh.matmul(Kh.transpose(1, 2)) / self.dh ** 0.5, dim=-1)
            results.append(w.matmul(Vh))
        return self.lin_out(torch.cat(results, -1))
