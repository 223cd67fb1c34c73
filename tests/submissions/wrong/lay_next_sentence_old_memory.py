"""A decoder layer for speech translation, trained on whole targets and run frame by frame."""

import torch
from torch import nn


class Heads(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.wq, self.wk = nn.Linear(width, width), nn.Linear(width, width)
        self.wv, self.wo = nn.Linear(width, width), nn.Linear(width, width)

    def apart(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x, k, v, future=None):
        scores = self.apart(self.wq(x)) @ k.mT / (x.shape[-1] // self.heads) ** 0.5
        if future is not None:
            scores = scores.masked_fill(future, float("-inf"))
        return self.wo((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))

    def keys_and_values(self, x):
        return self.apart(self.wk(x)), self.apart(self.wv(x))


class SpeechDecoderLayer(nn.Module):
    def __init__(self, width: int, heads: int, hidden: int):
        super().__init__()
        self.own, self.other = Heads(width, heads), Heads(width, heads)
        self.network = nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, width))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.reset()

    def reset(self):
        """Forget the sentence: to be called before the first step of the next one."""
        self.past = None

    def forward(self, target, source):
        n = target.shape[1]
        future = torch.ones(n, n, dtype=torch.bool, device=target.device).triu(1)
        x = self.norms[0](target + self.own(target, *self.own.keys_and_values(target), future))
        x = self.norms[1](x + self.other(x, *self.other.keys_and_values(source)))
        return self.norms[2](x + self.network(x))

    def step(self, target, source):
        """target: (batch, 1, width), the next frame."""
        k, v = self.own.keys_and_values(target)
        if self.past is not None:
            k, v = torch.cat([self.past[0], k], 2), torch.cat([self.past[1], v], 2)
        else:
            self.of_source = getattr(self, "of_source", None) or self.other.keys_and_values(source)
        self.past = k, v
        x = self.norms[0](target + self.own(target, k, v))
        x = self.norms[1](x + self.other(x, *self.of_source))
        return self.norms[2](x + self.network(x))
