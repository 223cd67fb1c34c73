"""Block of a decoder whose heads may be wider than their share of the model; rotation in halves."""

import torch
import torch.nn.functional as F
from torch import nn


def turn(x, base=10000.0):
    half = x.shape[-1] // 2
    rates = base ** (-torch.arange(half, device=x.device, dtype=torch.float64) / half)
    angles = torch.arange(x.shape[-2], device=x.device, dtype=torch.float64)[:, None] * rates
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


class WideHeadBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, head_dim=None, eps=1e-6):
        super().__init__()
        self.n_heads = n_heads
        self.head_dim = head_dim or d_model // n_heads
        inner = n_heads * self.head_dim
        self.norm1, self.norm2 = nn.LayerNorm(d_model, eps=eps), nn.LayerNorm(d_model, eps=eps)
        self.q_proj = nn.Linear(d_model, inner)
        self.k_proj = nn.Linear(d_model, inner)
        self.v_proj = nn.Linear(d_model, inner)
        self.o_proj = nn.Linear(inner, d_model)
        self.up, self.down = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def attend(self, x):
        b, t, _ = x.shape
        split = (b, t, self.n_heads, self.head_dim)
        q, k, v = (p(x).view(split).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        out = F.scaled_dot_product_attention(turn(q), turn(k), v, is_causal=True)
        return self.o_proj(out.transpose(1, 2).reshape(b, t, -1))

    def forward(self, x):
        x = x + self.attend(self.norm1(x))
        return x + self.down(F.gelu(self.up(self.norm2(x))))
