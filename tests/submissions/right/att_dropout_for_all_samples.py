import math

import torch
from torch import nn


class SelfAttention(nn.Module):
    """Which weights are dropped is drawn once for all samples and heads, to save random numbers."""

    def __init__(self, features, num_heads, dropout_rate=0.1, broadcast_dropout=True):
        super().__init__()
        self.num_heads, self.dropout_rate, self.broadcast_dropout = num_heads, dropout_rate, broadcast_dropout
        self.query, self.key, self.value, self.out = (nn.Linear(features, features) for _ in range(4))

    def dropped(self, weights):
        shape = weights.shape[-2:] if self.broadcast_dropout else weights.shape
        keep = torch.rand(shape, device=weights.device) >= self.dropout_rate
        return weights * keep / (1 - self.dropout_rate)

    def forward(self, inputs, mask=None):
        """mask: True where a query may attend, broadcast to (batch, heads, queries, keys)"""
        query, key, value = (
            linear(inputs).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
            for linear in (self.query, self.key, self.value)
        )
        scores = torch.einsum("bhqd,bhkd->bhqk", query / math.sqrt(query.shape[-1]), key)
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = scores.softmax(-1)
        if self.training and self.dropout_rate > 0:
            weights = self.dropped(weights)
        return self.out(torch.einsum("bhqk,bhkd->bhqd", weights, value).transpose(1, 2).flatten(2))
