"""Decoder layer, post-norm. Training: layer(x, context). Inference: one word at a time, with notes from `start_notes`."""

import torch
from torch import nn


class Attend(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.scale = heads, (width // heads) ** -0.5
        self.wq, self.wk, self.wv = (nn.Linear(width, width, bias=False) for _ in range(3))
        self.wo = nn.Linear(width, width, bias=False)

    def forward(self, x, source, notes=None, causal=False):
        b, n, e = x.shape
        k, v = self.wk(source), self.wv(source)
        if notes is not None:
            notes.append((k, v))
            k, v = (torch.cat(each, 1) for each in zip(*notes))
        q, k, v = (t.view(b, t.shape[1], self.heads, -1).transpose(1, 2) for t in (self.wq(x), k, v))
        scores = q @ k.transpose(-1, -2) * self.scale
        if causal:
            scores = scores.masked_fill(torch.ones(n, n, dtype=torch.bool).triu(1), float("-inf"))
        return self.wo((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, n, e))


class WordDecoderLayer(nn.Module):
    def __init__(self, width, heads, inner):
        super().__init__()
        self.own, self.context = Attend(width, heads), Attend(width, heads)
        self.net = nn.Sequential(nn.Linear(width, inner), nn.ReLU(), nn.Linear(inner, width))
        self.norm_own, self.norm_context, self.norm_net = (nn.LayerNorm(width) for _ in range(3))

    @staticmethod
    def start_notes(notes=[]):
        return {"own": notes}

    def make_cache(self):
        """Return the notes of a sequence that begins."""
        return self.start_notes()

    def forward(self, x, context, cache=None):
        if cache is None:
            y = self.own(x, x, causal=True)
        else:
            if x.shape[1] != 1:
                raise ValueError("one word at a time")
            y = self.own(x, x, cache["own"])
        x = self.norm_own(x + y)
        x = self.norm_context(x + self.context(x, context))
        return self.norm_net(x + self.net(x))
