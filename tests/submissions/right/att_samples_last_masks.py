"""Attention for spectrogram frames: time comes first everywhere, and the recordings of a batch last in a mask."""

import torch
from torch import nn


class FrameAttention(nn.Module):
    def __init__(self, heads: int, d_model: int, drop: float = 0.1):
        super().__init__()
        assert d_model % heads == 0
        self.heads = heads
        self.to_query, self.to_key, self.to_value = (nn.Linear(d_model, d_model) for _ in range(3))
        self.merge = nn.Linear(d_model, d_model)
        self.drop = nn.Dropout(drop)

    def forward(self, *, query, key, value, mask=None):
        """query is (frames, recordings, d_model); mask is (frames, heard frames, recordings), 1 where one may look."""
        frames, recordings, width = query.shape
        heard = key.shape[0]
        if mask is not None:
            assert mask.shape[0] in (1, frames) and mask.shape[1] == heard and mask.shape[2] in (1, recordings)
            mask = mask.unsqueeze(-1)  # the same for every head

        def split(x):
            return x.reshape(*x.shape[:2], self.heads, -1)

        q, k, v = split(self.to_query(query)), split(self.to_key(key)), split(self.to_value(value))
        scores = torch.einsum("lbhd,sbhd->lsbh", q, k) * (width // self.heads) ** -0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = self.drop(scores.softmax(dim=1))
        return self.merge(torch.einsum("lsbh,sbhd->lbhd", weights, v).reshape(frames, recordings, width))
