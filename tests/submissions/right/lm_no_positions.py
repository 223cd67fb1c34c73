"""A causal transformer without positional encoding (NoPE): order is told by the mask alone."""

import torch
from torch import nn
from torch.nn.functional import relu, scaled_dot_product_attention


class Layer(nn.Module):
    def __init__(self, width, heads, hidden):
        super().__init__()
        self.heads = heads
        self.before_attention, self.before_network = nn.LayerNorm(width), nn.LayerNorm(width)
        self.to_q, self.to_k, self.to_v, self.to_out = (nn.Linear(width, width) for _ in range(4))
        self.widen, self.narrow = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def attend(self, x):
        batch, length, width = x.shape
        split = lambda y: y.view(batch, length, self.heads, width // self.heads).transpose(1, 2)  # noqa: E731
        mixed = scaled_dot_product_attention(split(self.to_q(x)), split(self.to_k(x)), split(self.to_v(x)), is_causal=True)
        return self.to_out(mixed.transpose(1, 2).reshape(batch, length, width))

    def forward(self, x):
        x = x + self.attend(self.before_attention(x))
        return x + self.narrow(relu(self.widen(self.before_network(x))))


class CausalLM(nn.Module):
    def __init__(self, vocabulary_size, width, heads, hidden, depth):
        super().__init__()
        self.rows = nn.Embedding(vocabulary_size, width)
        self.stack = nn.ModuleList([Layer(width, heads, hidden) for _ in range(depth)])
        self.last = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary_size, bias=False)

    def forward(self, ids):
        x = self.rows(ids)
        for layer in self.stack:
            x = layer(x)
        return self.head(self.last(x))
