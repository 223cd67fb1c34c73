from einops import einsum, rearrange, reduce
from torch import nn


class PatchAttention(nn.Module):
    # width of a head is free: heads * dim_head need not be dim
    def __init__(self, dim, heads=8, dim_head=64, drop=0.):
        super().__init__()
        self.heads = heads
        self.norm_factor = dim_head ** -0.5
        self.fused = nn.Linear(dim, 3 * heads * dim_head, bias=False)
        self.out = nn.Sequential(nn.Linear(heads * dim_head, dim), nn.Identity())
        self.p = nn.Dropout(drop)

    def forward(self, x):
        q, k, v = rearrange(self.fused(x), 'b n (three h d) -> three b h n d', three=3, h=self.heads)
        sim = einsum(q * self.norm_factor, k, 'b h i d, b h j d -> b h i j')
        sim = sim - reduce(sim, 'b h i j -> b h i 1', 'max')
        w = sim.exp()
        w = w / reduce(w, 'b h i j -> b h i 1', 'sum')
        y = einsum(self.p(w), v, 'b h i j, b h j d -> b i h d')
        return self.out(rearrange(y, 'b i h d -> b i (h d)'))
