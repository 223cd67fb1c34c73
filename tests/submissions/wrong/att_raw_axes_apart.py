import torch
from torch import nn, einsum


class CrossLook(nn.Module):
    """Letters: b batch, i query, j context, h head, c channel of a head, m and n the widths outside."""

    def __init__(self, dim, context_dim=None, heads=8, dim_head=64):
        super().__init__()
        context_dim = context_dim or dim
        self.scale = dim ** -0.5
        self.w_q = nn.Parameter(torch.randn(dim, heads, dim_head) * dim ** -0.5)
        self.w_kv = nn.Parameter(torch.randn(2, context_dim, heads, dim_head) * context_dim ** -0.5)
        self.w_o = nn.Parameter(torch.randn(heads, dim_head, dim) * (heads * dim_head) ** -0.5)

    def forward(self, x, context, context_mask=None):
        """context_mask: bool (b, j), True for what is there"""
        q = einsum('b i m, m h c -> b h i c', x, self.w_q)
        k, v = einsum('b j n, t n h c -> t b h j c', context, self.w_kv)
        sim = einsum('b h i c, b h j c -> b h i j', q, k) * self.scale
        if context_mask is not None:
            sim = sim.masked_fill(~context_mask[:, None, None, :], -torch.finfo(sim.dtype).max)
        return einsum('b h i j, b h j c, h c m -> b i m', sim.softmax(dim=-1), v, self.w_o)
