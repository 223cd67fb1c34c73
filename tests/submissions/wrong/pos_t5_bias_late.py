import math
import torch
from torch import nn, einsum
from einops import rearrange


class T5RelativePositionBias(nn.Module):
    def __init__(self, heads, causal, num_buckets, max_distance):
        super().__init__()
        self.causal, self.num_buckets, self.max_distance = causal, num_buckets, max_distance
        self.emb = nn.Embedding(num_buckets, heads)

    def forward(self, i, j):
        rel = rearrange(torch.arange(j), 'j -> 1 j') - rearrange(torch.arange(i), 'i -> i 1')
        n = self.num_buckets if self.causal else self.num_buckets // 2
        up = 0 if self.causal else n * (rel > 0).long()
        dist = (-rel).clamp(min=0) if self.causal else rel.abs()
        half = n // 2
        large = half + (torch.log(dist.clamp(min=1).double() / half) / math.log(self.max_distance / half) * (n - half)).long()
        bucket = up + torch.where(dist < half, dist, large.clamp(max=n - 1))
        return rearrange(self.emb(bucket), 'i j h -> h i j')


class RelAttention(nn.Module):
    """no scale, T5 has none"""

    def __init__(self, heads, *, causal=False, num_buckets=32, max_distance=128):
        super().__init__()
        self.causal = causal
        self.rel_pos = T5RelativePositionBias(heads, causal, num_buckets, max_distance)

    def forward(self, q, k, v):
        sim = einsum('b h i d, b h j d -> b h i j', q, k)
        i, j = sim.shape[-2:]
        if self.causal:
            sim = sim.masked_fill(torch.ones(i, j, dtype=torch.bool).triu(1), -torch.finfo(sim.dtype).max)
        attn = sim.softmax(dim=-1)
        attn = attn + self.rel_pos(i, j)
        return einsum('b h i j, b h j d -> b h i d', attn, v)
