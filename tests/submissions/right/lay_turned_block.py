"""A block as it is written today: RMSNorm, rotary positions, SwiGLU, no biases."""

import torch
import torch.nn.functional as F
from torch import nn


class Scale(nn.Module):
    def __init__(self, dim: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


def rotary_angles(head_dim: int, length: int, theta: float = 10000.0):
    inv_freq = theta ** (-torch.arange(0, head_dim, 2).double() / head_dim)
    return torch.outer(torch.arange(length).double(), inv_freq).repeat(1, 2)


def rotate_half(x):
    left, right = x.chunk(2, dim=-1)
    return torch.cat((-right, left), dim=-1)


class SelfAttention(nn.Module):
    def __init__(self, dim: int, n_heads: int, max_len: int) -> None:
        super().__init__()
        self.n_heads, self.head_dim = n_heads, dim // n_heads
        self.wq = nn.Linear(dim, dim, bias=False)
        self.wk = nn.Linear(dim, dim, bias=False)
        self.wv = nn.Linear(dim, dim, bias=False)
        self.wo = nn.Linear(dim, dim, bias=False)
        angles = rotary_angles(self.head_dim, max_len)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, x):
        batch, length, dim = x.shape
        split = (batch, length, self.n_heads, self.head_dim)
        q, k, v = (f(x).view(split).transpose(1, 2) for f in (self.wq, self.wk, self.wv))
        cos, sin = self.cos[:length].to(x.dtype), self.sin[:length].to(x.dtype)
        q, k = (t * cos + rotate_half(t) * sin for t in (q, k))
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.wo(out.transpose(1, 2).reshape(batch, length, dim))


class SwiGLU(nn.Module):
    def __init__(self, dim: int, hidden: int) -> None:
        super().__init__()
        self.w1 = nn.Linear(dim, hidden, bias=False)
        self.w2 = nn.Linear(hidden, dim, bias=False)
        self.w3 = nn.Linear(dim, hidden, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class TransformerBlock(nn.Module):
    def __init__(self, dim: int, n_heads: int, hidden: int, max_len: int = 128) -> None:
        super().__init__()
        self.attention_norm = Scale(dim)
        self.attention = SelfAttention(dim, n_heads, max_len)
        self.ffn_norm = Scale(dim)
        self.feed_forward = SwiGLU(dim, hidden)

    def forward(self, x):
        x = x + self.attention(self.attention_norm(x))
        return x + self.feed_forward(self.ffn_norm(x))
