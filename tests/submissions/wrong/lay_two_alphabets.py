"""Transliteration: names go from one alphabet into another; each alphabet has a filler of its own."""

import torch
from torch import nn


class Transliterator(nn.Module):
    """Letters and target letters are ids (B, N); out come scores for the letter after each."""

    def __init__(self, src_vocab_size, trg_vocab_size, src_pad_id, trg_pad_id, d_model, n_heads, n_layers, d_ff, max_len=64):
        super().__init__()
        self.src_pad_id, self.trg_pad_id = src_pad_id, trg_pad_id
        self.letters = nn.Embedding(src_vocab_size, d_model)
        self.signs = nn.Embedding(trg_vocab_size, d_model)
        self.places = nn.Embedding(max_len, d_model)
        self.reads = nn.ModuleList(
            nn.TransformerEncoderLayer(d_model, n_heads, d_ff, 0.0, batch_first=True) for _ in range(n_layers)
        )
        self.writes = nn.ModuleList(
            nn.TransformerDecoderLayer(d_model, n_heads, d_ff, 0.0, batch_first=True) for _ in range(n_layers)
        )
        self.scores = nn.Linear(d_model, trg_vocab_size)

    def placed(self, table, ids):
        return table(ids) + self.places.weight[: ids.shape[1]]

    def forward(self, src, trg):
        filler, later = src.eq(self.trg_pad_id), nn.Transformer.generate_square_subsequent_mask(trg.shape[1]) < 0
        memory = self.placed(self.letters, src)
        for layer in self.reads:
            memory = layer(memory, src_key_padding_mask=filler)
        out = self.placed(self.signs, trg)
        for layer in self.writes:
            out = layer(out, memory, tgt_mask=later, memory_key_padding_mask=filler)
        return self.scores(out)
