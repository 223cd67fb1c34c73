"""Attention of a captioner, with what later calls need where it is a decoder's."""

import torch
from torch import nn


class CaptionAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, is_decoder=False):
        super().__init__()
        self.num_heads, self.is_decoder = num_heads, is_decoder
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(embed_dim, embed_dim) for _ in range(4))

    def heads(self, x):
        return x.view(*x.shape[:2], self.num_heads, -1).transpose(1, 2)

    def forward(self, hidden, attention_mask=None):
        """attention_mask (b, 1, n, n) is added to the scores"""
        q, k, v = self.heads(self.q_proj(hidden)), self.heads(self.k_proj(hidden)), self.heads(self.v_proj(hidden))
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if attention_mask is not None:
            scores = scores + attention_mask
        out = self.o_proj((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
        return (out, (k, v)) if self.is_decoder else (out, None)
