"""A decoder layer whose two attentions lie in it side by side; what the memory gives is projected before either ends."""

import torch
from torch import nn
from torch.nn.functional import gelu, scaled_dot_product_attention


class DecoderLayer(nn.Module):
    def __init__(self, dim, heads, hidden):
        super().__init__()
        self.heads = heads
        self.n1, self.n2, self.n3 = nn.LayerNorm(dim), nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.o1 = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.q, self.kv, self.o2 = nn.Linear(dim, dim), nn.Linear(dim, 2 * dim), nn.Linear(dim, dim)
        self.f1, self.f2 = nn.Linear(dim, hidden), nn.Linear(hidden, dim)

    def cut(self, y):
        return y.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x, memory, memory_mask=None):
        """memory_mask: (batch, length), True where the memory is real."""
        q, k, v = (self.cut(part) for part in self.qkv(self.n1(x)).chunk(3, -1))
        keys, values = (self.cut(part) for part in self.kv(memory).chunk(2, -1))
        past = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()
        x = x + self.o1(scaled_dot_product_attention(q, k, v, attn_mask=past).transpose(1, 2).flatten(2))
        real = None if memory_mask is None else memory_mask[:, None, None, :]
        read = scaled_dot_product_attention(self.cut(self.q(self.n1(x))), keys, values, attn_mask=real)
        x = x + self.o2(read.transpose(1, 2).flatten(2))
        return x + self.f2(gelu(self.f1(self.n3(x))))
