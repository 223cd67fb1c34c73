"""Encoder block for the time series project (sensor windows, 12 channels -> d features)."""
from dataclasses import dataclass, field

import torch
from torch import nn


@dataclass
class BlockSettings:
    features: int = 64
    heads: int = 4
    hidden: int = 128
    dropout: float = 0.2


class SensorBlock(nn.Module):
    def __init__(self, settings: BlockSettings):
        super().__init__()
        s = settings
        self.attention = nn.MultiheadAttention(s.features, s.heads, dropout=s.dropout, batch_first=True)
        self.feed = nn.Sequential(nn.Linear(s.features, s.hidden), nn.ReLU(), nn.Dropout(s.dropout),
                                  nn.Linear(s.hidden, s.features), nn.Dropout(s.dropout))
        self.after_attention = nn.LayerNorm(s.features)
        self.after_feed = nn.LayerNorm(s.features)

    def forward(self, windows):
        mixed, _ = self.attention(windows, windows, windows)
        windows = self.after_attention(windows + mixed)
        out = self.feed(windows)
        return self.after_feed(out)
