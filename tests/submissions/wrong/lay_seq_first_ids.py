"""ids [S, B] and [T, B] -> logits [T, B, V]; the positions are learned, and one table for both sides."""
import math

import torch
from torch import nn


class Layer(nn.Module):
    """With cross it belongs to the decoder. The norms come first."""

    def __init__(self, d, h, ff, cross):
        super().__init__()
        self.own = nn.MultiheadAttention(d, h)
        self.cross = nn.MultiheadAttention(d, h) if cross else None
        self.ff = nn.Sequential(nn.Linear(d, ff), nn.ReLU(), nn.Linear(ff, d))
        self.norms = nn.ModuleList(nn.LayerNorm(d) for _ in range(3 if cross else 2))

    def forward(self, x, pad, mem=None, mem_pad=None, future=None):
        y = self.norms[0](x)
        x = x + self.own(y, y, y, key_padding_mask=pad, attn_mask=future)[0]
        if self.cross is not None:
            x = x + self.cross(self.norms[1](x), mem, mem, key_padding_mask=mem_pad)[0]
        return x + self.ff(self.norms[-1](x))


class Translator(nn.Module):
    """src [S, B], tgt [T, B]; tokens that are pad are seen by nobody."""

    def __init__(self, src_vocab, tgt_vocab, d=64, h=4, ff=128, layers=2, pad=0, max_len=512):
        super().__init__()
        self.d, self.pad = d, pad
        self.src_emb, self.tgt_emb = nn.Embedding(src_vocab, d), nn.Embedding(tgt_vocab, d)
        self.pos = nn.Parameter(torch.randn(max_len, 1, d) * 0.02)
        self.enc = nn.ModuleList(Layer(d, h, ff, False) for _ in range(layers))
        self.dec = nn.ModuleList(Layer(d, h, ff, True) for _ in range(layers))
        self.enc_norm, self.dec_norm = nn.LayerNorm(d), nn.LayerNorm(d)
        self.generator = nn.Linear(d, tgt_vocab)

    def embedded(self, table, ids):
        return table(ids) * math.sqrt(self.d) + self.pos[: len(ids)]

    def forward(self, src, tgt):
        src_pad, tgt_pad = (src == self.pad).t(), (tgt == self.pad).t()
        future = torch.ones(len(tgt), len(tgt), dtype=torch.bool).triu(1)
        m = self.embedded(self.src_emb, src)
        for layer in self.enc:
            m = layer(m, src_pad)
        m = self.enc_norm(m)
        y = self.embedded(self.tgt_emb, tgt)
        for layer in self.dec:
            y = layer(y, tgt_pad, m, src_pad)
        return self.generator(self.dec_norm(y))
