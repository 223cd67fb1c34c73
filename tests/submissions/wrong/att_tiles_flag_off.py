"""Attention over blocks of keys with a running softmax, causal if asked for."""

import math

import torch


class BlockwiseAttention:
    """Called with query, key and value, each of shape (batch, heads, length, width)."""

    def __init__(self, block: int = 4, causal: bool = False):
        self.block = block
        self.causal = causal

    def __call__(self, query, key, value):
        rows = torch.arange(query.shape[2]).view(-1, 1)
        largest = torch.full((*query.shape[:3], 1), -math.inf, dtype=query.dtype)
        total = torch.zeros_like(largest)
        summed = query.new_zeros(*query.shape[:3], value.shape[-1])
        for start in range(0, key.shape[2], self.block):
            stop = min(start + self.block, key.shape[2])
            scores = query @ key[:, :, start:stop].transpose(-2, -1) / math.sqrt(query.shape[-1])
            if self.causal:
                scores = scores.masked_fill(torch.arange(start, stop) > rows, -math.inf)
            highest = torch.maximum(largest, scores.max(dim=-1, keepdim=True).values)
            weights = (scores - highest).exp()
            total = total * (largest - highest).exp() + weights.sum(dim=-1, keepdim=True)
            summed = summed + weights @ value[:, :, start:stop]
            largest = highest
        return summed / total
