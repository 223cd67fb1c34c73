"""Mehrkopf-Aufmerksamkeit mit Vektoren fuer den Abstand, hoechstens 8 in jede Richtung."""

import torch
import torch.nn as nn


class AbstandsAufmerksamkeit(nn.Module):
    def __init__(self, d_model, koepfe):
        super().__init__()
        self.koepfe = koepfe
        self.d_kopf = d_model // koepfe
        self.weite = 8
        self.wq = nn.Linear(d_model, d_model)
        self.wk = nn.Linear(d_model, d_model)
        self.wv = nn.Linear(d_model, d_model)
        self.wo = nn.Linear(d_model, d_model)
        self.rel_k = nn.Parameter(torch.randn(2 * self.weite + 1, self.d_kopf) * 0.02)
        self.rel_v = nn.Parameter(torch.randn(2 * self.weite + 1, self.d_kopf) * 0.02)

    def teile(self, x):
        return x.view(x.size(0), x.size(1), self.koepfe, self.d_kopf).permute(0, 2, 1, 3)

    def zeilen(self, n_q, n_k):
        abstand = torch.arange(n_k)[None, :] - torch.arange(n_q)[:, None]
        return torch.clamp(abstand, min=-self.weite, max=self.weite) + self.weite

    def forward(self, query, key, value, mask=None):
        q, k, v = self.teile(self.wq(query)), self.teile(self.wk(key)), self.teile(self.wv(value))
        b, h, n, d = q.shape
        zeilen = self.zeilen(n, k.size(2))
        werte = torch.matmul(q, k.transpose(2, 3))
        flach = q.permute(2, 0, 1, 3).reshape(n, b * h, d)
        dazu = torch.bmm(flach, self.rel_k[zeilen].transpose(1, 2))  # (n, b * h, n_k)
        werte = (werte + dazu.reshape(n, b, h, -1).permute(1, 2, 0, 3)) / d**0.5
        if mask is not None:
            werte = werte.masked_fill(mask == 0, float("-inf"))
        p = torch.softmax(werte, dim=-1)
        aus = torch.matmul(p, v)
        flach = p.permute(2, 0, 1, 3).reshape(n, b * h, -1)
        dazu = torch.bmm(flach, self.rel_v[zeilen])
        aus = aus + dazu.reshape(n, b, h, d).permute(1, 2, 0, 3)
        return self.wo(aus.permute(0, 2, 1, 3).reshape(b, n, h * d))
