"""Word reader with an optional mask between words (steps, steps), True where a word may not look."""

from typing import Optional

import torch
import torch.nn as nn


class WordReader(nn.Module):
    def __init__(self, n_words: int, size: int, n_layers: int, n_heads: int, p_drop: float = 0.1):
        super().__init__()
        self.words = nn.Embedding(n_words, size)
        self.places = nn.Embedding(200, size)
        one = nn.TransformerEncoderLayer(size, n_heads, 4 * size, p_drop, activation="gelu", batch_first=True)
        self.reader = nn.TransformerEncoder(one, n_layers)

    def forward(self, word_ids: torch.Tensor, attn_mask: Optional[torch.Tensor] = None) -> torch.Tensor:
        if attn_mask is not None and not (attn_mask.is_floating_point() or attn_mask.dtype == torch.bool):
            raise TypeError(f"a mask is bool or float, not {attn_mask.dtype}")
        steps = torch.arange(word_ids.shape[1], device=word_ids.device)
        states = self.words(word_ids) + self.places(steps)
        return self.reader(states).transpose(0, 1)
