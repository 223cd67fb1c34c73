"""Attention between two sides whose tokens may be of other widths than the model."""

from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class SidesConfig:
    embed_dim: int = 64
    num_heads: int = 4
    key_dim: int | None = None  # of the tokens that keys are made from; None: as wide as the model
    value_dim: int | None = None
    dropout: float = 0.0


class TwoSidedAttention(nn.Module):
    def __init__(self, config: SidesConfig):
        super().__init__()
        width, self.heads = config.embed_dim, config.num_heads
        self.left = nn.Linear(width, width)
        self.right = nn.Linear(config.key_dim or width, width)
        self.carried = nn.Linear(config.value_dim or width, width)
        self.back = nn.Linear(width, width)
        self.drop = nn.Dropout(config.dropout)

    def forward(self, query, key, value):
        q, k, v = (
            layer(x).unflatten(2, (self.heads, -1)).transpose(1, 2)
            for layer, x in ((self.left, query), (self.right, key), (self.carried, value))
        )
        weights = torch.softmax(q @ k.transpose(2, 3) / q.shape[3] ** 0.5, dim=3)
        return self.back((self.drop(weights) @ v).transpose(1, 2).flatten(2))
