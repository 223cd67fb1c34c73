"""Attention of an image model: pixels to themselves, or to the words of a caption, each with padding of its own."""

import torch
from torch import nn


class PixelAttention(nn.Module):
    def __init__(self, dim, heads, caption_dim=None):
        super().__init__()
        self.heads = heads
        self.q = nn.Linear(dim, dim, bias=False)
        self.kv = nn.Linear(caption_dim or dim, 2 * dim, bias=False)
        self.o = nn.Linear(dim, dim)

    def forward(self, x, context=None, mask=None, context_mask=None):
        """mask (b, n) and context_mask (b, m): True is there. The first is about x, where no context is given."""
        there = mask if context is None else context_mask
        k, v = self.kv(x if context is None else context).chunk(2, -1)
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in (self.q(x), k, v))
        scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
        if there is not None:
            scores = scores.masked_fill(~there[:, None, None], -torch.finfo(scores.dtype).max)
        return self.o((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
