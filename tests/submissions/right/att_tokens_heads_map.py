import math
import torch
from torch import nn


class MultiHead(nn.Module):
    def __init__(self, model_dim, num_heads):
        super().__init__()
        self.h, self.dk = num_heads, model_dim // num_heads
        self.proj = nn.ModuleDict({n: nn.Linear(model_dim, model_dim) for n in ("query", "key", "value", "out")})

    def heads(self, name, x):
        return self.proj[name](x).view(len(x), self.h, self.dk).transpose(0, 1)  # h, n, dk

    def forward(self, tokens, context, mask=None):
        q, k, v = self.heads("query", tokens), self.heads("key", context), self.heads("value", context)
        energy = q.bmm(k.transpose(1, 2)) / math.sqrt(self.dk)
        if mask is not None:  # (n, m), zeros are shut out
            energy = energy.masked_fill(mask == 0, -math.inf)
        att = energy.softmax(-1)
        out = att.bmm(v).transpose(0, 1).reshape(len(tokens), self.h * self.dk)
        return self.proj["out"](out), att
