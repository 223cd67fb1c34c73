import math

import torch
from torch import nn


class SelfAttention(nn.Module):
    """Attention of an encoder; what comes out is projected by the layer that calls it."""

    def __init__(self, width: int, num_heads: int):
        super().__init__()
        self.width, self.num_heads = width, num_heads
        self.q = nn.Linear(width, width)
        self.k = nn.Linear(width, width)
        self.v = nn.Linear(width, width)

    def heads(self, x: torch.Tensor) -> torch.Tensor:
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def forward(self, x: torch.Tensor, keep: torch.Tensor | None = None) -> torch.Tensor:
        """x (batch, tokens, width), keep (batch, tokens) bool."""
        query = self.heads(self.q(x))
        key = self.heads(self.k(x))
        value = self.heads(self.v(x))
        # so that scores do not grow with the width
        scores = query @ key.transpose(-2, -1) / math.sqrt(self.width)
        if keep is not None:
            scores = scores.masked_fill(~keep[:, None, None, :], float("-inf"))
        return (scores.softmax(dim=-1) @ value).transpose(1, 2).flatten(2)
