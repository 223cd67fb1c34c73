import torch
import torch.nn as nn


class Sublayers(nn.Module):
    def __init__(self, d, h, f):
        super().__init__()
        self.att = nn.MultiheadAttention(d, h, batch_first=True)
        self.ff = nn.Sequential(nn.Linear(d, f), nn.ReLU(), nn.Linear(f, d))
        self.na, self.nf = nn.LayerNorm(d), nn.LayerNorm(d)

    def forward(self, x, m=None):
        x = self.na(x + self.att(x, x, x, key_padding_mask=m)[0])
        return self.nf(x + self.ff(x))


class TransformerEncoder(nn.Module):
    """
    d: model size, h: heads, f: feed forward size, n: number of layers
    m: padding mask (batch, length), True = padding
    """

    def __init__(self, d, h, f, n):
        super().__init__()
        self.layers = []
        for i in range(n):
            self.layers.append(Sublayers(d, h, f))

    def forward(self, x, m=None):
        for layer in self.layers:
            x = layer(x, m)
        return x
