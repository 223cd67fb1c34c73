import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class CappedAttention(nn.Module):
    def __init__(self, dim, n_heads, softcap=None):
        super().__init__()
        self.n_heads, self.softcap = n_heads, softcap
        self.q_proj = nn.Linear(dim, dim, bias=False)
        self.k_proj = nn.Linear(dim, dim, bias=False)
        self.v_proj = nn.Linear(dim, dim, bias=False)
        self.o_proj = nn.Linear(dim, dim, bias=False)

    def forward(self, x, mask=None):
        q, k, v = (p(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        s = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
        if self.softcap:
            s = self.softcap * torch.tanh(s)
        if mask is not None:
            s = s.masked_fill(mask == 0, -1e9)
        return self.o_proj((s.softmax(-1) @ v).transpose(1, 2).flatten(2))
