"""One module for the encoder (full=True) and for the decoder (the default)."""

import torch
from einops import rearrange
from torch import einsum, nn


class SelfAttention(nn.Module):
    def __init__(self, dim, heads, full=False, dropout=0.0):
        super().__init__()
        self.heads, self.full = heads, full
        self.to_qkv = nn.Linear(dim, dim * 3, bias=False)
        self.to_out = nn.Linear(dim, dim)
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        q, k, v = (rearrange(t, "b n (h d) -> b h n d", h=self.heads) for t in self.to_qkv(x).chunk(3, dim=-1))
        sim = einsum("b h i d, b h j d -> b h i j", q * q.shape[-1] ** -0.5, k)
        if not self.full:
            n = x.shape[1]
            sim = sim.masked_fill(torch.ones(n, n, dtype=torch.bool, device=x.device).triu(1), -torch.inf)
        out = einsum("b h i j, b h j d -> b h i d", self.drop(sim.softmax(dim=-1)), v)
        return self.to_out(rearrange(out, "b h n d -> b n (h d)"))
