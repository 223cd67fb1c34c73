import torch
import torch.nn as nn
import torch.nn.functional as F


class SelfAttention(nn.Module):
    def __init__(self, input_dim, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d = input_dim // n_heads
        assert self.d * n_heads == input_dim
        self.k = nn.Linear(input_dim, input_dim)
        self.q = nn.Linear(input_dim, input_dim)
        self.v = nn.Linear(input_dim, input_dim)
        self.merge = nn.Linear(input_dim, input_dim)

    def forward(self, x, mask=None):
        b, t, e = x.size()
        keys = self.k(x).view(b, t, self.n_heads, self.d).transpose(1, 2)
        queries = self.q(x).view(b, t, self.n_heads, self.d).transpose(1, 2)
        values = self.v(x).view(b, t, self.n_heads, self.d).transpose(1, 2)
        dot = queries @ keys.transpose(2, 3)
        if mask is not None:
            dot = dot.masked_fill(mask == 0, float('-inf'))
        dot = F.softmax(dot, dim=-1) / (self.d ** 0.5)
        out = (dot @ values).transpose(1, 2).reshape(b, t, e)
        return self.merge(out)
