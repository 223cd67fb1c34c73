"""Relation-aware self-attention for a decoder: vectors of offsets for keys and values, in embeddings."""

from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Settings:
    width: int = 128
    n_heads: int = 4
    max_relative: int = 12
    dropout: float = 0.1


class Offsets(nn.Module):
    """Vectors for the places of keys, seen from queries."""

    def __init__(self, width, farthest):
        super().__init__()
        self.farthest = farthest
        self.vectors = nn.Embedding(2 * farthest + 1, width)

    def forward(self, length):
        at = torch.arange(length, device=self.vectors.weight.device)
        away = at.unsqueeze(0).sub(at.unsqueeze(1)).clamp(-self.farthest, self.farthest)
        return self.vectors(away.add(self.farthest))  # (length, length, width)


class RelationAwareAttention(nn.Module):
    def __init__(self, settings: Settings):
        super().__init__()
        self.n_heads, self.width = settings.n_heads, settings.width // settings.n_heads
        self.in_proj = nn.Linear(settings.width, 3 * settings.width)
        self.out_proj = nn.Linear(settings.width, settings.width)
        self.of_keys = Offsets(self.width, settings.max_relative)
        self.of_values = Offsets(self.width, settings.max_relative)
        self.dropout = nn.Dropout(settings.dropout)

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = self.in_proj(x).view(batch, length, 3, self.n_heads, self.width).permute(2, 0, 3, 1, 4)
        near = self.of_keys(length)
        by_content = q @ k.mT
        by_place = (q.transpose(1, 2) @ near.mT).transpose(1, 2)  # each query with the vectors of its own row
        scores = by_content / self.width**0.5 + by_place
        later = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
        weights = self.dropout(scores.masked_fill(later, float("-inf")).softmax(-1))
        context = weights @ v + torch.einsum("bhij,ijd->bhid", weights, self.of_values(length))
        return self.out_proj(context.transpose(1, 2).reshape(batch, length, -1))
