# patch transformer, attention part
import torch
from einops import rearrange
from torch import nn


class PatchAttention(nn.Module):
    def __init__(self, width: int, n_heads: int, drop: float = 0.0):
        super().__init__()
        self.width, self.n_heads = width, n_heads
        self.to_q = nn.Linear(width, width)
        self.to_k = nn.Linear(width, width)
        self.to_v = nn.Linear(width, width)
        self.drop = nn.Dropout(drop)
        self.mix = nn.Linear(width, width)

    def split(self, t):
        return rearrange(t, "b n (h d) -> b h n d", h=self.n_heads)

    def forward(self, patches):
        q, k, v = (self.split(f(patches)) for f in (self.to_q, self.to_k, self.to_v))
        att = torch.einsum("bhqd,bhkd->bhqk", q, k).softmax(dim=-1) / self.width**0.5
        seen = torch.einsum("bhqk,bhkd->bhqd", self.drop(att), v)
        return self.mix(rearrange(seen, "b h n d -> b n (h d)"))
