# multi head attention with the heads folded into the batch
import torch
import torch.nn as nn


class FoldedMHA(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        if size % heads != 0:
            raise ValueError
        self.heads = heads
        self.d = size // heads
        self.q_net = nn.Linear(size, size, bias=False)
        self.k_net = nn.Linear(size, size, bias=False)
        self.v_net = nn.Linear(size, size, bias=False)
        self.o_net = nn.Linear(size, size, bias=False)

    def fold(self, x):
        n, t, _ = x.shape
        return x.reshape(n, t, self.heads, self.d).transpose(1, 2).reshape(n * self.heads, t, self.d)

    def forward(self, q, k, v, mask=None):
        """mask: n x tq x tk, True where attention is NOT allowed"""
        n, tq, _ = q.shape
        q, k, v = self.fold(self.q_net(q)), self.fold(self.k_net(k)), self.fold(self.v_net(v))
        e = torch.bmm(q, k.transpose(1, 2)) / self.d ** 0.5
        if mask is not None:
            e = e.masked_fill(mask.repeat(self.heads, 1, 1), float("-inf"))
        o = torch.bmm(torch.softmax(e, dim=2), v)
        o = o.reshape(n, self.heads, tq, self.d).transpose(1, 2).reshape(n, tq, -1)
        return self.o_net(o)
