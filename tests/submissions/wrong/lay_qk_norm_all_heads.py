import torch
from torch import nn


class HeadNorm(nn.Module):
    """RMS norm of (batch, heads, tokens, head_dim), one gain per feature of a head."""

    def __init__(self, head_dim):
        super().__init__()
        self.eps = 1e-6
        self.gain = nn.Parameter(torch.ones(head_dim))

    def forward(self, t):
        return t * torch.rsqrt(t.square().mean((1, 3), keepdim=True) + self.eps) * self.gain


class QKNormAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(dim, dim, bias=False) for _ in range(4))
        self.query_norm, self.key_norm = HeadNorm(dim // heads), HeadNorm(dim // heads)

    def forward(self, x):
        q, k, v = (f(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for f in (self.query, self.key, self.value))
        q, k = self.query_norm(q), self.key_norm(k)
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, dim, heads, ff_dim):
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(dim, eps=1e-6), nn.RMSNorm(dim, eps=1e-6)
        self.attn = QKNormAttention(dim, heads)
        self.w1, self.w3 = nn.Linear(dim, ff_dim, bias=False), nn.Linear(dim, ff_dim, bias=False)
        self.w2 = nn.Linear(ff_dim, dim, bias=False)

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        y = self.norm2(x)
        return x + self.w2(nn.functional.silu(self.w1(y)) * self.w3(y))
