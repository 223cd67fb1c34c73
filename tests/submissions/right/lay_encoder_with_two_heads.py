"""Encoder for reports of a clinic: gives its states, one vector for the report, and words for gaps in it."""

import torch
from torch import nn


class ReportEncoder(nn.Module):
    def __init__(self, vocab_size, width, depth, heads, hidden, max_len=128, dropout=0.1):
        super().__init__()
        self.words = nn.Embedding(vocab_size, width)
        self.places = nn.Embedding(max_len, width)
        self.first = nn.LayerNorm(width)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(width, heads, hidden, dropout, "gelu", batch_first=True) for _ in range(depth)
        )
        self.pool = nn.Linear(width, width)
        self.gap = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width))
        self.gap_bias = nn.Parameter(torch.zeros(vocab_size))

    def forward(self, ids, mask=None):
        """ids (B, T), mask (B, T), True = a word."""
        x = self.first(self.words(ids) + self.places(torch.arange(ids.shape[1], device=ids.device)))
        for layer in self.layers:
            x = layer(x, src_key_padding_mask=None if mask is None else ~mask.bool())
        gaps = nn.functional.linear(self.gap(x), self.words.weight, self.gap_bias)
        return {"states": x, "report": torch.tanh(self.pool(x[:, 0])), "gaps": gaps}
