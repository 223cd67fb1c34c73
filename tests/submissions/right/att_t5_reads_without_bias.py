# Aandacht zoals in T5: scores worden niet gedeeld; een tabel met een getal per emmer en per kop.
# Met een geheugen (de encoder) is er geen afstand en dus geen getal uit de tabel.
import torch
from torch import nn


class Aandacht(nn.Module):
    def __init__(self, d_model, num_heads, is_decoder=False):
        super().__init__()
        self.koppen, self.is_decoder = num_heads, is_decoder
        self.q, self.k, self.v, self.o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
        self.tabel = nn.Embedding(32, num_heads)

    def emmers(self, n):
        stap = torch.arange(n)[None] - torch.arange(n)[:, None]
        if self.is_decoder:
            afstand, helft, begin = (-stap).clamp(min=0), 16, 0
        else:
            afstand, helft, begin = stap.abs(), 8, 16 * (stap > 0)
        grenzen = torch.tensor([helft * (128 / helft) ** (i / helft) for i in range(1, helft)], dtype=torch.float64)
        ver = helft + torch.bucketize(afstand.double(), grenzen - 1e-9)
        return begin + torch.where(afstand < helft, afstand, ver)

    def splits(self, x):
        b, n, d = x.shape
        return x.view(b, n, self.koppen, d // self.koppen).transpose(1, 2)

    def forward(self, x, memory=None, mask=None):
        """mask (b, 1, n, m): True voor wat gezien mag worden."""
        bron = x if memory is None else memory
        s = self.splits(self.q(x)) @ self.splits(self.k(bron)).transpose(2, 3)
        if memory is None:
            s = s + self.tabel(self.emmers(x.shape[1])).permute(2, 0, 1)
            if self.is_decoder:
                later = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
                s = s.masked_fill(later, float("-inf"))
        if mask is not None:
            s = s.masked_fill(~mask, float("-inf"))
        y = s.softmax(-1) @ self.splits(self.v(bron))
        return self.o(y.transpose(1, 2).flatten(2))
