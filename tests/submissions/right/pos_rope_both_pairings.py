"""Rotary embedding in both layouts."""
import torch
from torch import nn


class RotaryEmbedding(nn.Module):
    def __init__(self, dim, base=10000.0, interleaved=False):
        super().__init__()
        self.interleaved = interleaved
        self.register_buffer("inv_freq", 1.0 / base ** (torch.arange(0, dim, 2).double() / dim), persistent=False)

    def rotate(self, x):
        if self.interleaved:
            a, b = x[..., ::2], x[..., 1::2]
            return torch.stack((-b, a), dim=-1).flatten(-2)
        a, b = x.chunk(2, dim=-1)
        return torch.cat((-b, a), dim=-1)

    def forward(self, x):
        """x: (batch, heads, seq, dim)"""
        t = torch.arange(x.shape[-2], device=x.device, dtype=self.inv_freq.dtype)
        freqs = torch.outer(t, self.inv_freq)
        emb = freqs.repeat_interleave(2, dim=-1) if self.interleaved else torch.cat((freqs, freqs), dim=-1)
        return x * emb.cos().to(x.dtype) + self.rotate(x) * emb.sin().to(x.dtype)
