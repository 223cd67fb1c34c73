"""A tower of transformer blocks of which some may be left out, or chosen by their numbers."""
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.before_attention = nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.before_network = nn.LayerNorm(width)
        self.network = nn.Sequential(nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, width))

    def forward(self, x, key_padding_mask=None):
        y = self.before_attention(x)
        x = x + self.attention(y, y, y, key_padding_mask=key_padding_mask, need_weights=False)[0]
        return x + self.network(self.before_network(x))


class Tower(nn.Module):
    """x (batch, tokens, width); key_padding_mask (batch, tokens): True is padding."""

    def __init__(self, width, heads, layers):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, x, key_padding_mask=None, allowed=None):
        for number, block in enumerate(self.blocks):
            if allowed is None or number in allowed:
                x = block(x, key_padding_mask)
        return self.norm(x)
