import torch
from torch import nn


class Residual(nn.Module):
    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def forward(self, x, n):
        return x + self.fn(n)


class SelfAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.to_qkv = nn.Linear(dim, dim * 3)
        self.to_out = nn.Linear(dim, dim)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.to_qkv(x).chunk(3, dim=-1))
        weights = (q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5).softmax(-1)
        return self.to_out((weights @ v).transpose(1, 2).flatten(2))


class ParallelLayer(nn.Module):
    """Attention and MLP side by side, as in PaLM."""

    def __init__(self, dim, heads, mlp_dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.attn = Residual(SelfAttention(dim, heads))
        self.mlp = Residual(nn.Sequential(nn.Linear(dim, mlp_dim), nn.GELU(), nn.Linear(mlp_dim, dim)))

    def forward(self, x):
        n = self.norm(x)
        return self.attn(x, n) + self.mlp(x, n)
