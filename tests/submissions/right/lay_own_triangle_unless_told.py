"""A decoder layer that makes its own causal mask where nobody brings one."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.wq = nn.Linear(d_model, d_model)
        self.wk = nn.Linear(d_model, d_model)
        self.wv = nn.Linear(d_model, d_model)
        self.wo = nn.Linear(d_model, d_model)

    def forward(self, q, k, v, mask=None):
        B, L, D = q.shape
        q, k, v = (w(t).view(B, -1, self.n_heads, D // self.n_heads).transpose(1, 2)
                   for w, t in ((self.wq, q), (self.wk, k), (self.wv, v)))
        s = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        if mask is not None:
            s = s.masked_fill(~mask, float("-inf"))
        return self.wo((s.softmax(-1) @ v).transpose(1, 2).reshape(B, L, D))


class DecoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attn = Attention(d_model, n_heads)
        self.cross_attn = Attention(d_model, n_heads)
        self.fc1, self.fc2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.n1, self.n2, self.n3 = nn.LayerNorm(d_model), nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x, memory, tgt_mask=None, memory_mask=None):
        if tgt_mask is None:
            tgt_mask = torch.ones(x.size(1), x.size(1), dtype=torch.bool, device=x.device).tril()
        x = self.n1(x + self.self_attn(x, x, x, tgt_mask))
        x = self.n2(x + self.cross_attn(x, memory, memory, memory_mask))
        return self.n3(x + self.fc2(F.relu(self.fc1(x))))
