"""Attention of a speech model: frames to frames in their order, or words to frames, of which all may be heard."""

import torch
from torch import nn


class HeadsOfSpeech(nn.Module):
    """order: (n, n), added to the scores of words among themselves"""

    def __init__(self, n_state, n_head):
        super().__init__()
        self.n_head = n_head
        self.q, self.v, self.o = (nn.Linear(n_state, n_state) for _ in range(3))
        self.k = nn.Linear(n_state, n_state, bias=False)

    def heads(self, x):
        return x.unflatten(-1, (self.n_head, -1)).transpose(1, 2)

    def forward(self, x, audio=None, mask=None):
        if audio is None:
            heard, order = x, mask
        else:
            heard, order = audio, None
        q, k, v = self.heads(self.q(x)), self.heads(self.k(heard)), self.heads(self.v(heard))
        scores = q @ k.mT * q.shape[-1] ** -0.5
        if order is not None:
            scores = scores + order[: q.shape[2], : k.shape[2]]
        return self.o((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
