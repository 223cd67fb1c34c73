"""Encoder of a small retrieval model. Mask convention: 1 = token, 0 = pad, shape [B, T]."""
import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, hidden, n_heads, ffn):
        super().__init__()
        self.n_heads = n_heads
        self.qkv = nn.Linear(hidden, hidden * 3)
        self.o = nn.Linear(hidden, hidden)
        self.ffn = nn.Sequential(nn.Linear(hidden, ffn), nn.GELU(approximate="tanh"), nn.Linear(ffn, hidden))
        self.ln_att = nn.LayerNorm(hidden)
        self.ln_ffn = nn.LayerNorm(hidden)

    def forward(self, x, attention_mask=None):
        B, T, C = x.shape
        q, k, v = self.qkv(self.ln_att(x)).chunk(3, -1)
        q, k, v = [t.view(B, T, self.n_heads, -1).transpose(1, 2) for t in (q, k, v)]
        w = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
        if attention_mask is not None:
            w = w.masked_fill(attention_mask[:, None, None, :] == 0, torch.finfo(w.dtype).min)
        x = x + self.o((w.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))
        return x + self.ffn(self.ln_ffn(x))


class RetrievalEncoder(nn.Module):
    def __init__(self, hidden=64, n_heads=4, ffn=128, depth=2):
        super().__init__()
        self.first = Layer(hidden, n_heads, ffn)
        self.rest = nn.ModuleList([Layer(hidden, n_heads, ffn) for _ in range(depth - 1)])
        self.ln = nn.LayerNorm(hidden)

    def forward(self, x, attention_mask=None):
        x = self.first(x, attention_mask)
        for layer in self.rest:
            x = layer(x)
        return self.ln(x)
