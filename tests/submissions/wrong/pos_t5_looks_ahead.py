import math

import torch
import torch.nn as nn


class RelativePositionBias(nn.Module):
    def __init__(self, num_heads, num_buckets=32, max_distance=128, bidirectional=True):
        super().__init__()
        self.both, self.n, self.far = bidirectional, num_buckets, max_distance
        self.embedding = nn.Embedding(num_buckets, num_heads)

    def forward(self, query_length, key_length):
        there = torch.arange(key_length)[None, :] - torch.arange(query_length)[:, None]
        n, start = self.n, torch.zeros_like(there)
        if self.both:
            n //= 2
            start, there = (there > 0).long() * n, there.abs()
        else:
            there = torch.clamp(there, min=0)
        near = n // 2
        log = torch.log(there.clamp(min=1).double() / near) / math.log(self.far / near)
        log = (near + (log * (n - near)).long()).clamp(max=n - 1)
        return self.embedding(start + torch.where(there < near, there, log)).permute(2, 0, 1)
