import math

import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, nx, n_head, scale=False):
        super().__init__()
        assert nx % n_head == 0
        self.n_head = n_head
        self.scale = scale
        self.c_attn = nn.Linear(nx, 3 * nx)
        self.c_proj = nn.Linear(nx, nx)

    def _attn(self, q, k, v):
        w = torch.matmul(q, k.transpose(-1, -2))
        if self.scale:
            w = w / math.sqrt(v.size(-1))
        w = w.softmax(dim=-1)
        return torch.matmul(w, v)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.n_head, -1)).transpose(1, 2) for t in self.c_attn(x).chunk(3, dim=-1))
        return self.c_proj(self._attn(q, k, v).transpose(1, 2).flatten(2))
