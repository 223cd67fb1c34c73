"""A small Qwen 3: queries and keys are normalised head by head, then turned; SwiGLU; RMS norms; the head is its own."""
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Settings:
    vocab_size: int = 500
    emb_dim: int = 64
    hidden_dim: int = 128
    n_heads: int = 4
    n_layers: int = 2
    rope_base: float = 10000.0


class RMS(nn.Module):
    def __init__(self, size, eps=1e-6):
        super().__init__()
        self.eps, self.scale = eps, nn.Parameter(torch.ones(size))

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps) * self.scale


def turned(x, base):
    half = x.shape[-1] // 2
    freq = base ** (-torch.arange(half, dtype=x.dtype, device=x.device) / half)
    angle = torch.arange(x.shape[-2], dtype=x.dtype, device=x.device)[:, None] * freq
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], dim=-1)


class Attention(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.heads, self.size, self.base = s.n_heads, s.emb_dim // s.n_heads, s.rope_base
        self.W_query = nn.Linear(s.emb_dim, s.emb_dim, bias=False)
        self.W_key = nn.Linear(s.emb_dim, s.emb_dim, bias=False)
        self.W_value = nn.Linear(s.emb_dim, s.emb_dim, bias=False)
        self.out_proj = nn.Linear(s.emb_dim, s.emb_dim, bias=False)
        self.q_norm, self.k_norm = RMS(self.size), RMS(self.size)

    def forward(self, x):
        split = lambda y: y.unflatten(-1, (self.heads, self.size)).transpose(1, 2)
        q, k, v = split(self.W_query(x)), split(self.W_key(x)), split(self.W_value(x))
        q, k = turned(self.q_norm(q), self.base), turned(self.k_norm(k), self.base)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out_proj(y.transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.norm1, self.att, self.norm2 = RMS(s.emb_dim), Attention(s), RMS(s.emb_dim)
        self.fc1 = nn.Linear(s.emb_dim, s.hidden_dim, bias=False)
        self.fc2 = nn.Linear(s.emb_dim, s.hidden_dim, bias=False)
        self.fc3 = nn.Linear(s.hidden_dim, s.emb_dim, bias=False)

    def forward(self, x):
        x = x + self.att(self.norm1(x))
        n = self.norm2(x)
        return x + self.fc3(F.silu(self.fc1(n)) * self.fc2(n))


class SmallQwen(nn.Module):
    def __init__(self, s: Settings):
        super().__init__()
        self.tok_emb = nn.Embedding(s.vocab_size, s.emb_dim)
        self.blocks = nn.ModuleList([Block(s) for _ in range(s.n_layers)])
        self.final_norm = RMS(s.emb_dim)
        self.out_head = nn.Linear(s.emb_dim, s.vocab_size, bias=False)

    def forward(self, ids):
        x = self.tok_emb(ids)
        for block in self.blocks:
            x = block(x)
        return self.out_head(x)
