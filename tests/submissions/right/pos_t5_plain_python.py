"""T5 biases without tensor tricks: one bucket at a time."""
from math import floor, log

import torch


def bucket_number(offset, n_buckets, far, both_ways):
    """offset = key position minus query position"""
    start = 0
    if both_ways:
        n_buckets = n_buckets // 2
        if offset > 0:
            start = n_buckets
        gap = abs(offset)
    else:
        gap = -min(offset, 0)
    near = n_buckets // 2
    if gap < near:
        return start + gap
    if gap >= far:
        return start + n_buckets - 1
    return start + min(near + floor((n_buckets - near) * log(gap / near) / log(far / near)), n_buckets - 1)


class T5Bias(torch.nn.Module):
    def __init__(self, heads, num_buckets, max_distance, bidirectional=True):
        super().__init__()
        self.args = (num_buckets, max_distance, bidirectional)
        self.table = torch.nn.Parameter(torch.randn(num_buckets, heads))

    def forward(self, queries, keys):
        rows = [[bucket_number(k - q, *self.args) for k in range(keys)] for q in range(queries)]
        index = torch.tensor(rows, dtype=torch.long, device=self.table.device).reshape(queries, keys)
        return torch.einsum("qkh->hqk", self.table[index])
