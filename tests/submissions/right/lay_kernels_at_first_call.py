"""Ported from a notebook in another framework: objects, no modules; weights are there once an input was seen."""
import torch
import torch.nn.functional as F


class Variable(torch.nn.Parameter):
    pass


class Linear:
    def __init__(self, units):
        self.units = units
        self.w = None

    def __call__(self, x):
        if self.w is None:
            spread = (x.shape[-1] + self.units) ** -0.5
            self.w = Variable(torch.randn(x.shape[-1], self.units, dtype=x.dtype) * spread)
            self.b = Variable(torch.zeros(self.units, dtype=x.dtype))
        return torch.matmul(x, self.w) + self.b


class Norm:
    def __init__(self):
        self.gain = None

    def __call__(self, x):
        if self.gain is None:
            self.gain = Variable(torch.ones(x.shape[-1], dtype=x.dtype))
            self.shift = Variable(torch.zeros(x.shape[-1], dtype=x.dtype))
        return F.layer_norm(x, x.shape[-1:], self.gain, self.shift, 1e-6)


class EncoderBlock:
    """block(x, hidden): x (batch, words, width); hidden (batch, words) is True where there is only padding."""

    def __init__(self, width, heads, inner_width):
        self.heads = heads
        self.query, self.key, self.value, self.merge = (Linear(width) for _ in range(4))
        self.widen, self.narrow = Linear(inner_width), Linear(width)
        self.first_norm, self.second_norm = Norm(), Norm()

    def attend(self, x, hidden):
        q, k, v = (y(x).unflatten(2, (self.heads, -1)).transpose(1, 2) for y in (self.query, self.key, self.value))
        scores = torch.matmul(q, k.mT) * q.shape[3] ** -0.5
        if hidden is not None:
            scores = scores.masked_fill(hidden[:, None, None], -torch.inf)
        return self.merge(torch.matmul(torch.softmax(scores, dim=3), v).transpose(1, 2).flatten(2))

    def __call__(self, x, hidden=None):
        x = x + self.attend(self.first_norm(x), hidden)
        return x + self.narrow(F.gelu(self.widen(self.second_norm(x))))
