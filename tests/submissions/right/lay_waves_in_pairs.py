"""The writing half of a captioner: words, waves for their places, and layers that look at the picture."""

import torch
from torch import nn


def waves(longest, features):
    place = torch.arange(longest).unsqueeze(1)
    pace = 10000.0 ** (torch.arange(0, features, 2) / -features)
    bank = torch.empty(longest, features)
    bank[:, 0::2] = torch.sin(place * pace)
    bank[:, 1::2] = torch.cos(place * pace)
    return bank


class CaptionLayer(nn.Module):
    def __init__(self, features, heads, inner, rate):
        super().__init__()
        self.own = nn.MultiheadAttention(features, heads, dropout=rate, batch_first=True)
        self.picture = nn.MultiheadAttention(features, heads, dropout=rate, batch_first=True)
        self.think = nn.Sequential(nn.Linear(features, inner), nn.ReLU(), nn.Dropout(rate), nn.Linear(inner, features))
        self.calm = nn.ModuleList(nn.LayerNorm(features) for _ in range(3))
        self.drop = nn.Dropout(rate)

    def forward(self, x, memory, later):
        y = self.calm[0](x)
        x = x + self.drop(self.own(y, y, y, attn_mask=later, need_weights=False)[0])
        x = x + self.drop(self.picture(self.calm[1](x), memory, memory, need_weights=False)[0])
        return x + self.drop(self.think(self.calm[2](x)))


class CaptionDecoder(nn.Module):
    def __init__(self, vocab_size, features, heads, inner, num_layers, rate=0.1, longest=512):
        super().__init__()
        self.features = features
        self.words = nn.Embedding(vocab_size, features)
        self.register_buffer("bank", waves(longest, features))
        self.layers = nn.ModuleList(CaptionLayer(features, heads, inner, rate) for _ in range(num_layers))
        self.last = nn.LayerNorm(features)

    def forward(self, ids, memory):
        n = ids.shape[1]
        later = torch.ones(n, n, dtype=torch.bool, device=ids.device).triu(1)
        x = self.words(ids) * self.features**0.5 + self.bank[:n]
        for layer in self.layers:
            x = layer(x, memory, later)
        return self.last(x)
