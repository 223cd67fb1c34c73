"""Self-attention in the manner of JAX: an object keeps the sizes, its parameters are handed to it."""

import math

import torch


class SelfAttention:
    def __init__(self, features, heads):
        if features % heads:
            raise ValueError("features must be divisible by heads")
        self.features, self.heads = features, heads

    def init(self, generator=None):
        def matrix():
            return torch.randn(self.features, self.features, generator=generator) / math.sqrt(self.features)

        return {"wq": matrix(), "wk": matrix(), "wv": matrix(), "wo": matrix(), "bo": torch.zeros(self.features)}

    def _split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(-3, -2)

    def apply(self, params, x, mask=None):
        """x: (batch, tokens, features); mask: (batch, 1, 1 or tokens, tokens), True where a key may be seen."""
        q, k, v = (self._split(x @ params[name]) for name in ("wq", "wk", "wv"))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.features)
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        mixed = (scores.softmax(-1) @ v).transpose(-3, -2).flatten(-2)
        return mixed @ params["wo"] + params["bo"]
