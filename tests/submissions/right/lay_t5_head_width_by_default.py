"""Kodierer nach T5 (die erste Fassung, mit ReLU): Abstände in Fächern, eine Tabelle für alle Schichten."""

import math

import torch
from torch import nn


class Norm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.g = nn.Parameter(torch.ones(d))

    def forward(self, x):
        return self.g * x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt()


class Schicht(nn.Module):
    def __init__(self, d, koepfe, d_kv, d_ff):
        super().__init__()
        self.koepfe = koepfe
        self.norm_a, self.norm_n = Norm(d), Norm(d)
        self.frage, self.schluessel, self.wert = (nn.Linear(d, koepfe * d_kv, bias=False) for _ in range(3))
        self.aus = nn.Linear(koepfe * d_kv, d, bias=False)
        self.rein, self.raus = nn.Linear(d, d_ff, bias=False), nn.Linear(d_ff, d, bias=False)

    def teile(self, x):
        return x.unflatten(-1, (self.koepfe, -1)).transpose(1, 2)

    def forward(self, x, tabelle):
        y = self.norm_a(x)
        punkte = self.teile(self.frage(y)) @ self.teile(self.schluessel(y)).mT + tabelle
        x = x + self.aus((punkte.softmax(-1) @ self.teile(self.wert(y))).transpose(1, 2).flatten(2))
        return x + self.raus(self.rein(self.norm_n(x)).relu())


class Kodierer(nn.Module):
    def __init__(self, woerter, d=256, schichten=4, koepfe=4, d_kv=32, d_ff=512):
        super().__init__()
        self.einbettung = nn.Embedding(woerter, d)
        self.abstaende = nn.Embedding(32, koepfe)
        self.stapel = nn.ModuleList(Schicht(d, koepfe, d_kv, d_ff) for _ in range(schichten))
        self.ende = Norm(d)

    def faecher(self, n):
        schritt = torch.arange(n) - torch.arange(n)[:, None]
        weit = 8 + (torch.log(schritt.abs().clamp(min=1) / 8) * (8 / math.log(128 / 8))).long()
        fach = torch.where(schritt.abs() < 8, schritt.abs(), weit.clamp(max=15))
        return fach + 16 * (schritt > 0)

    def forward(self, ids, mask=None):
        """mask (Satz, Wort): wahr, wo ein Wort steht."""
        tabelle = self.abstaende(self.faecher(ids.shape[1])).permute(2, 0, 1)[None]
        if mask is not None:
            tabelle = tabelle.masked_fill(~mask[:, None, None].bool(), -1e9)
        x = self.einbettung(ids)
        for schicht in self.stapel:
            x = schicht(x, tabelle)
        return self.ende(x)
