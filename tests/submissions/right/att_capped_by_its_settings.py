# local attention of a small decoder, scores kept between -limit and limit
from dataclasses import dataclass

import torch
import torch.nn as nn


@dataclass
class Settings:
    dim: int = 128
    n_heads: int = 8
    n_kv_heads: int = 2
    attn_logit_softcapping: float = 50.0
    query_pre_attn_scalar: int = 16
    rope_theta: float = 10_000.0


def turn(x, theta):
    """x (B, H, T, D): the first half of the features with the second."""
    half = x.shape[-1] // 2
    speed = theta ** (-torch.arange(half, device=x.device, dtype=x.dtype) / half)
    angle = torch.arange(x.shape[-2], device=x.device, dtype=x.dtype)[:, None] * speed
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], dim=-1)


class CappedAttention(nn.Module):
    def __init__(self, settings: Settings):
        super().__init__()
        self.s = settings
        self.d = settings.dim // settings.n_heads
        self.wq = nn.Linear(settings.dim, settings.n_heads * self.d, bias=False)
        self.wk = nn.Linear(settings.dim, settings.n_kv_heads * self.d, bias=False)
        self.wv = nn.Linear(settings.dim, settings.n_kv_heads * self.d, bias=False)
        self.wo = nn.Linear(settings.n_heads * self.d, settings.dim, bias=False)

    def forward(self, x):
        B, T, _ = x.shape
        s = self.s
        q = self.wq(x).view(B, T, s.n_heads, self.d).transpose(1, 2)
        k = self.wk(x).view(B, T, s.n_kv_heads, self.d).transpose(1, 2)
        v = self.wv(x).view(B, T, s.n_kv_heads, self.d).transpose(1, 2)
        q = turn(q, s.rope_theta) * s.query_pre_attn_scalar**-0.5
        k = turn(k, s.rope_theta)
        k, v = (t.repeat_interleave(s.n_heads // s.n_kv_heads, dim=1) for t in (k, v))
        scores = q @ k.mT
        scores = torch.tanh(scores / s.attn_logit_softcapping) * s.attn_logit_softcapping
        later = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        weights = scores.masked_fill(later, float("-inf")).softmax(dim=-1)
        return self.wo((weights @ v).transpose(1, 2).reshape(B, T, -1))
