"""First pages of our transformer notes: from word numbers to the output of one attention layer."""
import torch
import torch.nn as nn
import math


class Pipeline(nn.Module):
    def __init__(self, n_words, width, n_heads, longest=500):
        super().__init__()
        self.n_heads = n_heads
        self.words = nn.Embedding(n_words, width)
        p = torch.arange(longest)[:, None]
        w = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
        table = torch.zeros(longest, width)
        table[:, 0::2] = torch.sin(p * w)
        table[:, 1::2] = torch.cos(p * w)
        self.register_buffer("positions", table)
        self.q = nn.Linear(width, width)
        self.k = nn.Linear(width, width)
        self.v = nn.Linear(width, width)
        self.o = nn.Linear(width, width)

    def heads(self, t):
        B, T, C = t.shape
        return t.reshape(B, T, self.n_heads, C // self.n_heads).transpose(1, 2)

    def forward(self, ids):
        x = self.words(ids)
        if ids.shape[1] > len(self.positions):
            raise ValueError("longest is too short")
        x = x + self.positions[: ids.shape[1]]
        q, k, v = self.heads(self.q(x)), self.heads(self.k(x)), self.heads(self.v(x))
        att = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]), dim=-1)
        y = (att @ v).transpose(1, 2).reshape(x.shape)
        return self.o(y)
