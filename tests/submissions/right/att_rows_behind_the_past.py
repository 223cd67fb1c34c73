import torch
from torch import nn


class Listening(nn.Module):
    """Attention of a text to itself, or to sound; `mask` is added, (n, n) for n positions, with -inf above the diagonal."""

    def __init__(self, width, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.q, self.k = nn.Linear(width, width), nn.Linear(width, width, bias=False)
        self.v, self.o = nn.Linear(width, width), nn.Linear(width, width)

    def heads(self, x):
        return x.reshape(x.shape[0], x.shape[1], self.n_heads, -1).permute(0, 2, 1, 3)

    def forward(self, x, sound=None, mask=None):
        source = x if sound is None else sound
        q, k, v = self.heads(self.q(x)), self.heads(self.k(source)), self.heads(self.v(source))
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            end = scores.shape[-1]
            scores = scores + mask[end - x.shape[1] : end, :end]
        return self.o((torch.softmax(scores, -1) @ v).permute(0, 2, 1, 3).flatten(2))
