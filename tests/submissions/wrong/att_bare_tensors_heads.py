"""Attention of bare tensors. Each object lists its parameters; there is no nn.Module."""
import math

import torch


class Dense:
    def __init__(self, n_in, n_out):
        bound = 1 / math.sqrt(n_in)
        self.w = torch.empty(n_in, n_out).uniform_(-bound, bound).requires_grad_()
        self.b = torch.zeros(n_out, requires_grad=True)

    def __call__(self, x):
        return x @ self.w + self.b


class MultiHeadAttention:
    def __init__(self, d_model, n_heads):
        self.n_heads = n_heads
        self.parts = {name: Dense(d_model, d_model) for name in ("query", "key", "value", "out")}

    def __call__(self, x, mask=None):
        q, k, v = (
            self.parts[n](x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for n in ("query", "key", "value")
        )
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.n_heads)
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        return self.parts["out"]((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
