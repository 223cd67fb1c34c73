# Кодировщик трансформера (pre-norm), домашнее задание 3
import torch
from torch import nn


class Слой(nn.Module):
    def __init__(self, dim, heads, hidden):
        super().__init__()
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(dim, hidden), nn.GELU(), nn.Linear(hidden, dim))
        self.norm1 = nn.LayerNorm(dim)
        self.norm2 = nn.LayerNorm(dim)

    def forward(self, x, mask):
        h = self.norm1(x)
        # внимание + остаточная связь
        x = x + self.attn(h, h, h, key_padding_mask=mask, need_weights=False)[0]
        return x + self.mlp(self.norm2(x))


class Encoder(nn.Module):
    """mask: True там, где паддинг"""

    def __init__(self, dim, heads, hidden, n_layers):
        super().__init__()
        self.layers = nn.ModuleList([Слой(dim, heads, hidden) for _ in range(n_layers)])
        self.norm = nn.LayerNorm(dim)

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask)
            x = self.norm(x)
        return x
