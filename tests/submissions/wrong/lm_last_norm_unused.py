"""Homework 4: a decoder-only transformer that continues Shakespeare."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class SelfAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.wq = nn.Linear(d_model, d_model)
        self.wk = nn.Linear(d_model, d_model)
        self.wv = nn.Linear(d_model, d_model)
        self.wo = nn.Linear(d_model, d_model)

    def forward(self, x, mask):
        b, t, d = x.shape
        h, e = self.n_heads, d // self.n_heads
        q = self.wq(x).reshape(b, t, h, e).transpose(1, 2)
        k = self.wk(x).reshape(b, t, h, e).transpose(1, 2)
        v = self.wv(x).reshape(b, t, h, e).transpose(1, 2)
        scores = q @ k.transpose(2, 3) / e**0.5
        if mask is not None:
            scores = scores.masked_fill(mask, float("-inf"))
        return self.wo((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, d))


class DecoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)
        self.attn = SelfAttention(d_model, n_heads)
        self.norm2 = nn.LayerNorm(d_model)
        self.ff = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def forward(self, x, mask):
        x = x + self.attn(self.norm1(x), mask)
        return x + self.ff(self.norm2(x))


class ShakespeareLM(nn.Module):
    """Pre-norm language model with a final LayerNorm; returns logits for the next character."""

    def __init__(self, vocab_size, d_model, n_heads, d_ff, n_layers, max_len):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList([DecoderBlock(d_model, n_heads, d_ff) for _ in range(n_layers)])
        self.final_norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)

    def forward(self, ids):
        t = ids.size(1)
        places = torch.arange(t, device=ids.device)
        x = self.tokens(ids) + self.positions(places)
        mask = torch.ones(t, t, dtype=torch.bool, device=ids.device).triu(1)
        for block in self.blocks:
            x = block(x, mask)
        return self.output(x)
