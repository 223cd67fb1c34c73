"""Word reader for our tagger. Words go in as (sentences, steps), states come out as (steps, sentences, size)."""

import torch
import torch.nn as nn


class WordReader(nn.Module):
    def __init__(self, n_words: int, size: int, n_layers: int, n_heads: int, p_drop: float = 0.1):
        super().__init__()
        self.words = nn.Embedding(n_words, size)
        self.places = nn.Embedding(200, size)
        self.before = nn.LayerNorm(size)
        self.drop = nn.Dropout(p_drop)
        one = nn.TransformerEncoderLayer(size, n_heads, 4 * size, p_drop, activation="gelu", batch_first=True)
        self.reader = nn.TransformerEncoder(one, n_layers)

    def forward(self, word_ids: torch.Tensor) -> torch.Tensor:
        steps = torch.arange(word_ids.shape[1], device=word_ids.device)
        states = self.drop(self.before(self.words(word_ids) + self.places(steps)))
        return self.reader(states).transpose(0, 1)
