import math

import torch
from torch import nn


def bucket_of(offset, count=32, furthest=128):
    later = (offset > 0).to(torch.long) * (count // 2)
    count //= 2
    offset = offset.abs()
    near = count // 2
    scale = (count - near) / math.log(furthest / near)
    far = near + (torch.log(offset.clamp(min=near) / near) * scale).to(torch.long)
    return later + torch.where(offset < near, offset, far.clamp(max=count - 1))


class ScaleNorm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d))

    def forward(self, h):
        return self.weight * h * (h.square().mean(-1, keepdim=True) + 1e-6).rsqrt()


class EncoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout):
        super().__init__()
        self.n_heads = n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)
        self.ff = nn.Sequential(
            nn.Linear(d_model, d_ff, bias=False), nn.ReLU(), nn.Dropout(dropout), nn.Linear(d_ff, d_model, bias=False)
        )
        self.norm_a, self.norm_f = ScaleNorm(d_model), ScaleNorm(d_model)
        self.drop = nn.Dropout(dropout)

    def attend(self, h, bias, keep):
        b, t, d = h.shape
        q, k, v = self.qkv(h).reshape(b, t, 3, self.n_heads, -1).permute(2, 0, 3, 1, 4)
        score = torch.einsum("bhid,bhjd->bhij", q, k)
        if bias is not None:
            score = score + bias
        if keep is not None:
            score = score.masked_fill(~keep[:, None, None, :], -1e9)
        return self.out(torch.einsum("bhij,bhjd->bihd", score.softmax(-1), v).reshape(b, t, d))

    def forward(self, h, bias=None, keep=None):
        h = h + self.drop(self.attend(self.norm_a(h), bias, keep))
        return h + self.drop(self.ff(self.norm_f(h)))


class T5StyleEncoder(nn.Module):
    """Pre-norm blocks without biases; one table of relative positions for the whole stack. keep: True = real token."""

    def __init__(self, d_model, n_heads, d_ff, n_layers, dropout=0.1):
        super().__init__()
        self.table = nn.Embedding(32, n_heads)
        self.blocks = nn.ModuleList([EncoderBlock(d_model, n_heads, d_ff, dropout) for _ in range(n_layers)])
        self.norm = ScaleNorm(d_model)

    def forward(self, h, keep=None):
        at = torch.arange(h.shape[1], device=h.device)
        bias = self.table(bucket_of(at[None] - at[:, None])).permute(2, 0, 1)
        for block in self.blocks:
            h = block(h, bias, keep)
            bias = None
        return self.norm(h)
