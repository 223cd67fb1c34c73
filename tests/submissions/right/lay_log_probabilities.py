"""A translator whose last step gives log-probabilities, for nn.NLLLoss and beam search."""

import torch
from torch import nn


def waves(length, width):
    rates = 10000 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angles = torch.arange(length)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], dim=-1).reshape(length, width)


class Generator(nn.Module):
    def __init__(self, width, n_words):
        super().__init__()
        self.proj = nn.Linear(width, n_words, bias=False)
        self.end = nn.LogSoftmax(dim=-1)

    def forward(self, x):
        return self.end(self.proj(x))


class Translator(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, d_model, n_heads, n_layers, d_ff, longest=400):
        super().__init__()
        self.source_words = nn.Embedding(src_vocab, d_model)
        self.target_words = nn.Embedding(tgt_vocab, d_model)
        sizes = dict(dropout=0.0, batch_first=True, norm_first=True)
        self.reading = nn.ModuleList(nn.TransformerEncoderLayer(d_model, n_heads, d_ff, **sizes) for _ in range(n_layers))
        self.writing = nn.ModuleList(nn.TransformerDecoderLayer(d_model, n_heads, d_ff, **sizes) for _ in range(n_layers))
        self.after_reading, self.after_writing = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.generator = Generator(d_model, tgt_vocab)
        self.register_buffer("places", waves(longest, d_model))

    def forward(self, src, tgt):
        root = self.places.shape[1] ** 0.5
        memory = self.source_words(src) * root + self.places[: src.shape[1]].to(self.generator.proj.weight)
        x = self.target_words(tgt) * root + self.places[: tgt.shape[1]].to(self.generator.proj.weight)
        for layer in self.reading:
            memory = layer(memory)
        memory = self.after_reading(memory)
        later = torch.ones(tgt.shape[1], tgt.shape[1], dtype=torch.bool, device=tgt.device).triu(1)
        for layer in self.writing:
            x = layer(x, memory, tgt_mask=later)
        return self.generator(self.after_writing(x))
