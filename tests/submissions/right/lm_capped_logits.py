"""Gemma-like: rotary halves, RMS norms with 1 + w, gated GELU, rows times sqrt(dim), tied head, soft cap of 30."""

import torch
from torch import nn
import torch.nn.functional as F


class Norm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps, self.scale = eps, nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        return x * (x.square().mean(-1, keepdim=True) + self.eps).rsqrt() * (1.0 + self.scale)


def rope(x, base=10_000):
    half = x.shape[-1] // 2
    place = torch.arange(x.shape[-2], device=x.device, dtype=torch.float64)
    angle = place[:, None] * base ** (-torch.arange(half, device=x.device, dtype=torch.float64) / half)
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    left, right = x[..., :half], x[..., half:]
    return torch.cat([left * cos - right * sin, right * cos + left * sin], dim=-1)


class GemmaLayer(nn.Module):
    def __init__(self, dim, heads, ffn_dim):
        super().__init__()
        self.heads = heads
        self.attn_norm, self.ffn_norm = Norm(dim), Norm(dim)
        self.q, self.k, self.v, self.o = (nn.Linear(dim, dim, bias=False) for _ in range(4))
        self.gate, self.up = nn.Linear(dim, ffn_dim, bias=False), nn.Linear(dim, ffn_dim, bias=False)
        self.down = nn.Linear(ffn_dim, dim, bias=False)

    def forward(self, x):
        n = self.attn_norm(x)
        q, k, v = (f(n).unflatten(-1, (self.heads, -1)).transpose(1, 2) for f in (self.q, self.k, self.v))
        y = F.scaled_dot_product_attention(rope(q), rope(k), v, is_causal=True)
        x = x + self.o(y.transpose(1, 2).flatten(2))
        n = self.ffn_norm(x)
        return x + self.down(F.gelu(self.gate(n), approximate="tanh") * self.up(n))


class TinyGemma(nn.Module):
    def __init__(self, vocab, dim, heads, ffn_dim, layers):
        super().__init__()
        self.embedder = nn.Parameter(torch.randn(vocab, dim) * 0.02)
        self.layers = nn.ModuleList(GemmaLayer(dim, heads, ffn_dim) for _ in range(layers))
        self.final_norm = Norm(dim)

    def forward(self, tokens):
        x = F.embedding(tokens, self.embedder) * self.embedder.shape[1] ** 0.5
        for layer in self.layers:
            x = layer(x)
        logits = self.final_norm(x) @ self.embedder.T
        return 30.0 * torch.tanh(logits / 30.0)
