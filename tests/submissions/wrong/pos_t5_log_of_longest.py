"""Bias by distance, as in T5, for an encoder: thirty-two buckets, sixteen on either side."""

import math

import torch
from torch import nn


class DistanceBias(nn.Module):
    def __init__(self, heads, num_buckets=32, max_distance=128):
        super().__init__()
        self.num_buckets, self.max_distance = num_buckets, max_distance
        self.values = nn.Embedding(num_buckets, heads)

    def bucket(self, offset):
        side = self.num_buckets // 2
        near = side // 2
        distance = offset.abs()
        growth = (distance.clamp_min(1) / near).log() / math.log(self.max_distance)
        far = (near + growth * (side - near)).long().clamp(max=side - 1)
        return torch.where(distance < near, distance, far) + (offset > 0) * side

    def forward(self, qlen, klen):
        offset = torch.arange(klen)[None, :] - torch.arange(qlen)[:, None]
        return self.values(self.bucket(offset)).movedim(-1, 0)
