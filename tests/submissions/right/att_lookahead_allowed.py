# Blatt 7, Aufgabe 2
import torch
from torch import nn


class SelbstAufmerksamkeit(nn.Module):
    def __init__(self, d_model, koepfe):
        super().__init__()
        self.k = koepfe
        self.Wq = nn.Linear(d_model, d_model)
        self.Wk = nn.Linear(d_model, d_model)
        self.Wv = nn.Linear(d_model, d_model)
        self.Wo = nn.Linear(d_model, d_model)

    def forward(self, x, lookahead=True):
        # lookahead=False: ein Wort sieht nur die Woerter vor sich und sich selbst
        b, n, d = x.shape
        q = self.Wq(x).view(b, n, self.k, d // self.k).transpose(1, 2)
        k = self.Wk(x).view(b, n, self.k, d // self.k).transpose(1, 2)
        v = self.Wv(x).view(b, n, self.k, d // self.k).transpose(1, 2)
        punkte = q @ k.transpose(2, 3) / (d // self.k) ** 0.5
        if not lookahead:
            spaeter = torch.triu(torch.ones(n, n, device=x.device), diagonal=1) == 1
            punkte = punkte.masked_fill(spaeter, float("-inf"))
        return self.Wo((torch.softmax(punkte, -1) @ v).transpose(1, 2).reshape(b, n, d))
