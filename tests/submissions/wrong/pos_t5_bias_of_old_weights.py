"""Relative position bias of a translation service: distances in buckets, one learned number for each head."""

import math

import torch
from torch import nn


class DistanceBias(nn.Module):
    """What attention adds to its scores, (heads, queries, keys); all layers of a step share it."""

    def __init__(self, num_heads, num_buckets=32, max_distance=128):
        super().__init__()
        self.num_buckets, self.max_distance = num_buckets, max_distance
        self.numbers = nn.Embedding(num_buckets, num_heads)
        self._of_lengths = {}

    def buckets(self, distance):
        half = self.num_buckets // 2
        behind = (distance > 0).long() * half
        distance = distance.abs()
        exact = half // 2
        grown = torch.log(distance.clamp(min=1) / exact) / math.log(self.max_distance / exact) * (half - exact)
        far = (exact + grown.long()).clamp(max=half - 1)
        return behind + torch.where(distance < exact, distance, far)

    def forward(self, queries, keys):
        if (queries, keys) not in self._of_lengths:
            distance = torch.arange(keys)[None, :] - torch.arange(queries)[:, None]
            self._of_lengths[queries, keys] = self.numbers(self.buckets(distance)).permute(2, 0, 1)
        return self._of_lengths[queries, keys]
