"""Attention as an object whose matrices are made by what it sees first. call(v, k, q, mask), as in that tutorial."""
import torch


class Dense:
    def __init__(self, units):
        self.units, self.kernel, self.bias = units, None, None

    def build(self, features, like):
        limit = (6 / (features + self.units)) ** 0.5
        self.kernel = like.new_empty(features, self.units).uniform_(-limit, limit).requires_grad_()
        self.bias = like.new_zeros(self.units).requires_grad_()

    def __call__(self, x):
        if self.kernel is None:
            self.build(x.shape[-1], x)
        return x @ self.kernel + self.bias


class MultiHeadAttention:
    def __init__(self, d_model, num_heads):
        if d_model % num_heads:
            raise ValueError("num_heads has to divide d_model")
        self.num_heads, self.depth = num_heads, d_model // num_heads
        self.wq, self.wk, self.wv, self.dense = (Dense(d_model) for _ in range(4))

    def __call__(self, v, k, q, mask=None):
        """mask: broadcastable to (batch, heads, queries, keys), 1 where nobody may look"""
        q, k, v = (x.unflatten(-1, (self.num_heads, self.depth)).transpose(1, 2)
                   for x in (self.wq(q), self.wk(k), self.wv(v)))
        logits = q @ k.transpose(-1, -2) / self.depth**0.5
        if mask is not None:
            logits = logits + mask * -1e9
        weights = torch.softmax(logits, dim=-2)
        return self.dense((weights @ v).transpose(1, 2).flatten(-2)), weights
