import math
import torch
import torch.nn as nn


class Translator_Attention(nn.Module):
    def __init__(self, hid_dim=64, n_heads=4):
        super().__init__()
        assert hid_dim % n_heads == 0
        self.n_heads = n_heads
        self.head_dim = hid_dim // n_heads
        self.root = int(math.sqrt(self.head_dim))
        self.layers = nn.ModuleList([nn.Linear(hid_dim, hid_dim) for i in range(3)])
        self.last = nn.Linear(hid_dim, hid_dim)

    def forward(self, query, key, value, mask=None):
        parts = []
        for layer, t in zip(self.layers, [query, key, value]):
            parts.append(layer(t).reshape(t.shape[0], t.shape[1], self.n_heads, self.head_dim).permute(0, 2, 1, 3))
        Q, K, V = parts
        energy = torch.matmul(Q, K.permute(0, 1, 3, 2)) / self.root
        if mask is not None:
            energy = energy.masked_fill(mask == 0, -1e10)
        p = energy.softmax(dim=-1)
        x = torch.matmul(p, V).permute(0, 2, 1, 3).flatten(2)
        return self.last(x), p
