import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class LongAttention(nn.Module):
    """Plain for short inputs; for 512 tokens and more in blocks of keys, to save memory."""

    def __init__(self, d_model, n_heads, block=128):
        super().__init__()
        self.n_heads, self.block = n_heads, block
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        q = q / math.sqrt(q.size(-1))
        if x.size(1) < 512:
            y = (q @ k.mT).softmax(-1) @ v
        else:
            y = self.in_blocks(q, k, v)
        return self.out(y.transpose(1, 2).flatten(2))

    def in_blocks(self, q, k, v):
        top = torch.full_like(q[..., :1], -torch.inf)
        total, acc = torch.zeros_like(top), torch.zeros_like(q)
        for kb, vb in zip(k.split(self.block, 2), v.split(self.block, 2)):
            s = q @ kb.mT
            new = torch.maximum(top, s.amax(-1, keepdim=True))
            p, old = (s - new).exp(), (top - new).exp()
            total = total * old + p.sum(-1, keepdim=True)
            acc = acc * old + p @ vb
            top = new
        return acc / total
