"""Attention that writes what it has read into space that the layer itself hands out."""

import torch
from torch import nn


class Space:
    def __init__(self, keys, values):
        self.keys, self.values, self.n = keys, values, 0


class LetterAttention(nn.Module):
    """Causal, (batch, length, width). With room: the next pieces of the text, each of any length."""

    def __init__(self, width, num_heads):
        super().__init__()
        self.num_heads, self.of_one = num_heads, width // num_heads
        self.all_three = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)

    def new_state(self, batch_size, max_tokens):
        empty = self.out.weight.new_zeros(2, batch_size, max_tokens, self.num_heads, self.of_one)
        return Space(*empty)

    def forward(self, x, state=None):
        n = x.shape[1]
        q, k, v = self.all_three(x).unflatten(-1, (3, self.num_heads, self.of_one)).unbind(2)
        before = 0
        if state is not None:
            before, state.n = state.n, state.n + n
            state.keys[:, before : state.n], state.values[:, before : state.n] = k.detach(), v.detach()
            k, v = state.keys[:, : state.n], state.values[:, : state.n]
        later = torch.arange(k.shape[1]) > torch.arange(n)[:, None]
        scores = torch.einsum("bqhe,bkhe->bhqk", q, k) * self.of_one**-0.5
        weights = scores.masked_fill(later, float("-inf")).softmax(-1)
        return self.out(torch.einsum("bhqk,bkhe->bqhe", weights, v).flatten(2))
