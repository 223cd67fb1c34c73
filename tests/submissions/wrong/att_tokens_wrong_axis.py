import math
from torch import nn


class TinyMultiHead(nn.Module):
    # x is one sentence: (n, d)
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x):
        n, d = x.shape
        size = d // self.heads
        q, k, v = (f(x).reshape(n, self.heads, size).transpose(0, 1) for f in (self.q, self.k, self.v))
        a = (q @ k.transpose(1, 2) / math.sqrt(size)).softmax(1)
        return self.o((a @ v).transpose(0, 1).reshape(n, d)), a
