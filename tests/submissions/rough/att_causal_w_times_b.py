"""Attention as in my notes on the first GPT; b is the triangle, everything else gets -1e4."""
import torch
from torch import nn
from torch.nn import functional as F

CTX = 512


class Attn(nn.Module):
    def __init__(self, nx, n_head):
        super().__init__()
        self.register_buffer("b", torch.tril(torch.ones(CTX, CTX))[None, None])
        self.n_head = n_head
        self.c_attn = nn.Linear(nx, nx * 3)
        self.c_proj = nn.Linear(nx, nx)

    def _split(self, t):
        return t.view(*t.shape[:-1], self.n_head, -1).transpose(1, 2)

    def forward(self, x):
        n = x.size(1)
        q, k, v = map(self._split, self.c_attn(x).chunk(3, dim=-1))
        w = torch.matmul(q, k.mT) / q.size(-1) ** 0.5
        b = self.b[..., :n, :n].to(w.dtype)
        w = w * b - 1e4 * (1 - b)
        a = F.softmax(w, dim=-1) @ v
        return self.c_proj(a.transpose(1, 2).flatten(2))
