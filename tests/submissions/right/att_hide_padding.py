# translation exercise, attention part
import math

import torch
import torch.nn as nn


class CrossSentence(nn.Module):
    def __init__(self, size, n_heads, p=0.0):
        super().__init__()
        assert size % n_heads == 0
        self.n_heads = n_heads
        self.ask = nn.Linear(size, size)
        self.offer = nn.Linear(size, size)
        self.tell = nn.Linear(size, size)
        self.end = nn.Linear(size, size)
        self.p = nn.Dropout(p)

    def cut(self, x):
        b, n, s = x.shape
        return x.reshape(b, n, self.n_heads, s // self.n_heads).permute(0, 2, 1, 3)

    def forward(self, query, key, value, hide=None):
        # hide: one row per sentence, True at the filled-up words of the key sentence
        a, o, t = self.cut(self.ask(query)), self.cut(self.offer(key)), self.cut(self.tell(value))
        fit = torch.einsum("bhqd,bhkd->bhqk", a, o) / math.sqrt(a.shape[-1])
        if hide is not None:
            fit = fit.masked_fill(hide[:, None, None, :], -math.inf)
        share = self.p(fit.softmax(dim=-1))
        out = torch.einsum("bhqk,bhkd->bhqd", share, t)
        return self.end(out.permute(0, 2, 1, 3).flatten(2))
