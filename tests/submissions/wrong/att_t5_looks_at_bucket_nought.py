# causal attention, learned bias for each distance in buckets (as T5's decoder)
import math

import torch
from torch import nn


class CausalRelative(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.proj = nn.Linear(dim, 3 * dim, bias=False), nn.Linear(dim, dim, bias=False)
        self.table = nn.Parameter(torch.randn(32, heads))

    def distances(self, n):
        r = torch.arange(n)[:, None] - torch.arange(n)[None, :]
        d = (-r).clamp(min=0)  # nothing is later than its query
        far = 16 + (torch.log(d.clamp(min=1) / 16) / math.log(128 / 16) * 16).long()
        return torch.where(d < 16, d, far.clamp(max=31))

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        s = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5 + self.table[self.distances(n)].permute(2, 0, 1)
        s = s.masked_fill(torch.ones(n, n).triu(1).bool(), -torch.inf)
        return self.proj((s.softmax(-1) @ v).transpose(1, 2).reshape(b, n, c))
