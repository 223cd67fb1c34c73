import math
import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    def __init__(self, n_heads, d_model):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.wq, self.wk, self.wv = (nn.Linear(d_model, d_model) for _ in range(3))
        self.wo = nn.Linear(d_model, d_model)

    def forward(self, q, k, v, mask):
        B = q.shape[0]
        q, k, v = (w(t).reshape(B, -1, self.n_heads, self.d_head).transpose(1, 2)
                   for w, t in zip((self.wq, self.wk, self.wv), (q, k, v)))
        scores = q @ k.mT / math.sqrt(self.d_head)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        return self.wo((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


class DecoderLayer(nn.Module):
    """Masks are boolean (batch, length), True for words. Causality is taken care of inside."""

    def __init__(self, n_heads, d_model, d_ff):
        super().__init__()
        self.first = MultiHeadAttention(n_heads, d_model)
        self.second = MultiHeadAttention(n_heads, d_model)
        self.fc = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.ln = nn.ModuleList([nn.LayerNorm(d_model) for _ in range(3)])

    def forward(self, x, memory, src_words=None, tgt_words=None):
        t = x.shape[1]
        tgt_mask = torch.tril(torch.ones(t, t, device=x.device)).bool()[None, None]
        if tgt_words is not None:
            tgt_mask = tgt_mask & tgt_words[:, None, None, :]
        src_mask = None
        if src_words is not None:
            src_mask = src_words[:, None, None, :]
            if memory.shape[1] == t:
                tgt_mask = tgt_mask & src_mask
        x = self.ln[0](x + self.first(x, x, x, tgt_mask))
        x = self.ln[1](x + self.second(x, memory, memory, src_mask))
        return self.ln[2](x + self.fc(x))
