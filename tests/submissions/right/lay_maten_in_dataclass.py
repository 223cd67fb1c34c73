"""Een stapel pre-norm lagen, zoals in ViT. Alle maten staan in `Maten`."""

from dataclasses import dataclass
from typing import Callable

import torch.nn.functional as F
from torch import nn


@dataclass
class Maten:
    breedte: int = 64
    koppen: int = 8
    lagen: int = 3
    binnen: int = 160
    uitval: float = 0.1
    act: Callable = F.gelu


class Blok(nn.Module):
    def __init__(self, m: Maten):
        super().__init__()
        self.act = m.act
        self.aandacht = nn.MultiheadAttention(m.breedte, m.koppen, dropout=m.uitval, batch_first=True)
        self.op, self.neer = nn.Linear(m.breedte, m.binnen), nn.Linear(m.binnen, m.breedte)
        self.norm_a, self.norm_b = nn.LayerNorm(m.breedte), nn.LayerNorm(m.breedte)
        self.uit = nn.Dropout(m.uitval)

    def forward(self, x, vulling=None):
        y = self.norm_a(x)
        y, _ = self.aandacht(y, y, y, key_padding_mask=vulling, need_weights=False)
        x = x + self.uit(y)
        return x + self.uit(self.neer(self.act(self.op(self.norm_b(x)))))


class Stapel(nn.Module):
    def __init__(self, m: Maten = Maten()):
        super().__init__()
        self.blokken = nn.ModuleList(Blok(m) for _ in range(m.lagen))
        self.slot = nn.LayerNorm(m.breedte)

    def forward(self, x, vulling=None):
        for blok in self.blokken:
            x = blok(x, vulling)
        return self.slot(x)
