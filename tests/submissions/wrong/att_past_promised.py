"""The attention of a chat: one turn after the other."""

import torch
from torch import nn


class TurnAttention(nn.Module):
    """Causal self-attention that continues where the turns before it ended.

    past: keys and values of earlier turns, each (batch, heads, tokens, width), which stand before the new ones
    """

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.three = nn.Linear(width, 3 * width, bias=False)
        self.last = nn.Linear(width, width, bias=False)

    def forward(self, turn, past=None):
        n, tokens, width = turn.shape
        q, k, v = self.three(turn).view(n, tokens, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.last(mixed.transpose(1, 2).reshape(n, tokens, width))
