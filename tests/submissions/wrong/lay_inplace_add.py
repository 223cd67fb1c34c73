import torch
from torch import nn


class FastBlock(nn.Module):
    """Saves memory where it can (12 GB card)."""

    def __init__(self, dim: int, num_heads: int, hidden_dim: int):
        super().__init__()
        self.n1 = nn.LayerNorm(dim)
        self.n2 = nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, dim * 3, bias=False)
        self.proj = nn.Linear(dim, dim, bias=False)
        self.w_in = nn.Linear(dim, hidden_dim, bias=False)
        self.w_out = nn.Linear(hidden_dim, dim, bias=False)
        self.num_heads = num_heads

    def mix(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(x).view(b, n, self.num_heads, 3 * (c // self.num_heads)).transpose(1, 2).chunk(3, dim=-1)
        y = nn.functional.scaled_dot_product_attention(q, k, v)
        return self.proj(y.transpose(1, 2).flatten(2))

    def forward(self, x):
        x += self.mix(self.n1(x))
        x += self.w_out(nn.functional.gelu(self.w_in(self.n2(x))))
        return x
