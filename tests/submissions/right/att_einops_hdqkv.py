import torch
import torch.nn as nn
from einops import rearrange


class EinMHA(nn.Module):
    # fused weight: head slowest, then d, then q/k/v fastest
    def __init__(self, emb=16, h=4):
        super().__init__()
        assert emb % h == 0, f'{emb=} must split into {h=} heads'
        self.h = h
        self.inp = nn.Linear(emb, 3 * emb)
        self.outp = nn.Linear(emb, emb)

    def forward(self, x, mask=None):
        # mask: bool, True = visible
        q, k, v = rearrange(self.inp(x), 'b t (h d r) -> r b h t d', h=self.h, r=3)
        e = torch.einsum('b h i d, b h j d -> b h i j', q, k) / q.shape[-1] ** .5
        if mask is not None:
            e = e.where(mask, -torch.inf)
        o = torch.einsum('b h i j, b h j d -> b i h d', e.softmax(-1), v)
        return self.outp(rearrange(o, 'b t h d -> b t (h d)'))
