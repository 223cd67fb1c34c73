"""Causal self-attention with a cache of its own, which a flag turns on."""

import torch
from torch import nn
from torch.nn import functional as F


class PieceAttention(nn.Module):
    """In training without `use_cache`. To decode: restart(), then pieces of any length with `use_cache=True`."""

    def __init__(self, features, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(features, 3 * features)
        self.end = nn.Linear(features, features)
        self.restart()

    def restart(self):
        self.memory = None

    def forward(self, x, use_cache=False):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        if use_cache:
            if self.memory is not None:
                k, v = torch.cat([self.memory[0], k], 2), torch.cat([self.memory[1], v], 2)
            self.memory = k, v
        new, seen_from = q.shape[2], 0
        seen = torch.ones(new, k.shape[2], dtype=torch.bool, device=x.device).tril(seen_from)
        return self.end(F.scaled_dot_product_attention(q, k, v, attn_mask=seen).transpose(1, 2).flatten(2))
