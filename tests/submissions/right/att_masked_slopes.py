import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class Attn(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.to_q = nn.Linear(dim, dim)
        self.to_kv = nn.Linear(dim, 2 * dim)
        self.to_out = nn.Linear(dim, dim)

    def forward(self, x, context=None, mask=None, return_attn=False):
        context = x if context is None else context
        q = self.to_q(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.to_kv(context).chunk(2, -1))
        dots = q @ k.mT * q.shape[-1] ** -0.5
        if mask is not None:
            dots = dots.masked_fill(~mask[:, None, None, :], float("-inf"))
        attn = dots.softmax(-1)
        out = self.to_out((attn @ v).transpose(1, 2).flatten(2))
        return (out, attn) if return_attn else out
