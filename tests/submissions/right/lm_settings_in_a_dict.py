"""A small causal language model; all settings stand in one dict."""

import torch
from torch import nn

SETTINGS = dict(words=300, room=32, width=48, heads=4, depth=2)
SETTINGS = {**SETTINGS, "tie_output": True}


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.att = nn.MultiheadAttention(width, heads, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, width))

    def forward(self, x, later):
        y = self.n1(x)
        x = x + self.att(y, y, y, attn_mask=later, need_weights=False)[0]
        return x + self.mlp(self.n2(x))


class SmallLM(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, n_heads, n_layers, settings=SETTINGS):
        super().__init__()
        self.words = nn.Embedding(vocab_size, d_model)
        self.places = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList(Block(d_model, n_heads) for _ in range(n_layers))
        self.last = nn.LayerNorm(d_model)
        self.readout = nn.Linear(d_model, vocab_size, bias=False)
        if settings["tie_output"]:
            self.readout.weight = self.words.weight

    def forward(self, ids):
        length = ids.size(1)
        x = self.words(ids) + self.places.weight[:length]
        later = torch.ones(length, length, dtype=torch.bool).triu(1)
        for block in self.blocks:
            x = block(x, later)
        return self.readout(self.last(x))
