"""Translator over ids (batch, length) in which <unk> is 0 and padding 1, unless another id is said."""

import math

import torch
from torch import nn


class WordTranslator(nn.Module):
    def __init__(self, words_in, words_out, width, heads, layers, inner, dropout=0.1, pad_id=1):
        super().__init__()
        self.pad_id, self.root = pad_id, math.sqrt(width)
        self.first, self.second = nn.Embedding(words_in, width), nn.Embedding(words_out, width)
        self.inside = nn.Transformer(width, heads, layers, layers, inner, dropout, batch_first=True)
        self.drop = nn.Dropout(dropout)
        self.scores = nn.Linear(width, words_out)

    def placed(self, vectors):
        width = vectors.shape[-1]
        at = torch.arange(vectors.shape[1], dtype=torch.float64)[:, None]
        angles = at / 10000 ** (torch.arange(0, width, 2) / width)
        waves = torch.stack([angles.sin(), angles.cos()], -1).flatten(1)
        return self.drop(vectors * self.root + waves.to(vectors))

    def forward(self, source, target):
        no_word_in, no_word_out = source == self.pad_id, target == self.pad_id
        later = torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).triu(1)
        hidden = self.inside(
            self.placed(self.first(source)),
            self.placed(self.second(target)),
            tgt_mask=later,
            src_key_padding_mask=no_word_in,
            tgt_key_padding_mask=no_word_out,
            memory_key_padding_mask=no_word_in,
        )
        return self.scores(hidden)
