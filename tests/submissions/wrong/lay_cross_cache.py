import math
import torch
from torch import nn


class CrossAttention(nn.Module):
    """Keys and values of the encoder do not change while decoding, so we compute them only once."""

    def __init__(self, d, h):
        super().__init__()
        self.d, self.h = d, h
        self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))
        self.kv = None

    def split(self, t):
        return t.view(t.size(0), t.size(1), self.h, self.d // self.h).transpose(1, 2)

    def forward(self, x, memory):
        if self.kv is None or self.kv[0].shape[2] != memory.shape[1] or self.kv[0].shape[0] != memory.shape[0]:
            self.kv = self.split(self.k(memory)), self.split(self.v(memory))
        k, v = self.kv
        a = (self.split(self.q(x)) @ k.transpose(2, 3) / math.sqrt(self.d // self.h)).softmax(-1)
        return self.o((a @ v).transpose(1, 2).flatten(2))


class Layer(nn.Module):
    def __init__(self, d, h, f):
        super().__init__()
        self.own = nn.MultiheadAttention(d, h, batch_first=True)
        self.other = CrossAttention(d, h)
        self.f1, self.f2 = nn.Linear(d, f), nn.Linear(f, d)
        self.n1, self.n2, self.n3 = (nn.LayerNorm(d) for _ in range(3))

    def forward(self, x, memory):
        T = x.size(1)
        mask = torch.ones(T, T, device=x.device).tril() == 0
        x = self.n1(x + self.own(x, x, x, attn_mask=mask)[0])
        x = self.n2(x + self.other(x, memory))
        return self.n3(x + self.f2(torch.relu(self.f1(x))))
