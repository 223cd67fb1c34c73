"""BERT's encoder with what it embeds. ids, seg: (B, T); mask: (B, T) with 1 for tokens."""

import torch
from torch import nn


class Encoder(nn.Module):
    """ids, seg: (B, T), seg by default the first segment; mask: (B, T) with 1 for tokens. Returns (B, T, width)."""

    def __init__(self, vocab, width=64, heads=4, inner=128, layers=2, longest=128, eps=1e-12):
        super().__init__()
        self.word, self.place = nn.Embedding(vocab, width), nn.Embedding(longest, width)
        self.segment = nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width, eps=eps)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(width, heads, inner, 0.0, "gelu", layer_norm_eps=eps, batch_first=True)
            for _ in range(layers)
        )

    def forward(self, ids, seg=None, mask=None):
        seg = torch.zeros_like(ids) if seg is None else seg
        x = self.norm(self.word(ids) + self.place(torch.arange(ids.shape[1], device=ids.device)) + self.segment(seg))
        for layer in self.layers:
            x = layer(x, src_key_padding_mask=None if mask is None else mask == 1)
        return x
