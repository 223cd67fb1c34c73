"""Self-attention over clips, all of them as long as the constructor is told."""

import torch
from torch import nn


class ClipAttention(nn.Module):
    def __init__(self, dim, heads, num_tokens):
        super().__init__()
        self.heads, self.scale = heads, dim**-0.5
        self.queries, self.keys, self.values = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.mix = nn.Linear(dim, dim)
        self.register_buffer("later", torch.full((num_tokens, num_tokens), -torch.inf).triu(1))

    def forward(self, clip):
        q, k, v = (
            layer(clip).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for layer in (self.queries, self.keys, self.values)
        )
        weights = torch.softmax(q * self.scale @ k.transpose(-2, -1) + self.later, dim=-1)
        return self.mix((weights @ v).transpose(1, 2).flatten(2))
