"""Attention to a sentence, one's own or another's, with padding in it."""

import torch
from torch import nn


class SentenceAttention(nn.Module):
    """keep: (batch, words attended to), True for words"""

    def __init__(self, width, heads):
        super().__init__()
        self.h = heads
        self.ask, self.offer, self.tell, self.join = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x, context=None, keep=None):
        seen = None if context is not None else keep
        context = x if context is None else context
        parts = (self.ask(x), self.offer(context), self.tell(context))
        q, k, v = (p.unflatten(-1, (self.h, -1)).transpose(1, 2) for p in parts)
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if seen is not None:
            scores = scores.masked_fill(~seen[:, None, None], -torch.inf)
        return self.join((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
