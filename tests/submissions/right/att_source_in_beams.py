"""Attention of beam search over the frames of a spectrogram."""

from math import sqrt

import torch
from torch import nn


class FramesAttention(nn.Module):
    """While nothing is learnt, the frames' keys and values are projected once; a new spectrogram is projected again."""

    def __init__(self, d_model: int, num_heads: int):
        super().__init__()
        self.num_heads = num_heads
        self.per_head = d_model // num_heads
        self.query = nn.Linear(d_model, d_model)
        self.key_value = nn.Linear(d_model, 2 * d_model)
        self.merge = nn.Linear(d_model, d_model)
        self._projected = {}

    def _project(self, frames):
        both = self.key_value(frames).unflatten(-1, (2, self.num_heads, self.per_head))
        return both.permute(2, 0, 3, 1, 4)

    def _looked_up(self, frames):
        if torch.is_grad_enabled():
            self._projected.clear()
            return self._project(frames)
        if self._projected.get("of") is not frames:
            self._projected = {"of": frames, "both": self._project(frames)}
        return self._projected["both"]

    def forward(self, letters, frames, silent=None):
        """silent: (batch, frames), True where nothing was recorded."""
        k, v = self._looked_up(frames)
        q = self.query(letters).unflatten(-1, (self.num_heads, self.per_head)).transpose(1, 2)
        scores = torch.einsum("bhle,bhse->bhls", q / sqrt(self.per_head), k)
        if silent is not None:
            scores = scores.masked_fill(silent[:, None, None, :], float("-inf"))
        mixed = torch.einsum("bhls,bhse->blhe", scores.softmax(-1), v)
        return self.merge(mixed.flatten(2))
