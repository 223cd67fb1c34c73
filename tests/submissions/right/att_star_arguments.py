from math import sqrt
from torch import nn


class Attend(nn.Module):
    """Self-attention for use in a chain of blocks: called as block(x, mask); mask (batch, 1, 1, time), 1 = look at it"""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(dim, dim) for _ in range(4))

    def forward(self, *args):
        x, mask = args
        b, t, d = x.shape
        q, k, v = (f(x).reshape(b, t, self.heads, -1).permute(0, 2, 1, 3) for f in (self.q, self.k, self.v))
        s = q @ k.transpose(-1, -2) / sqrt(d // self.heads)
        if mask is not None:
            s = s.masked_fill(mask == 0, float("-inf"))
        return self.o((s.softmax(-1) @ v).permute(0, 2, 1, 3).reshape(b, t, d))
