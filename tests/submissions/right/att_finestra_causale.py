"""Attenzione causale a finestra scorrevole: ogni parola guarda sé stessa e le `finestra` parole prima di lei."""

import math

import torch
from torch import nn


class AttenzioneAFinestra(nn.Module):
    def __init__(self, dim, teste, finestra=None):
        super().__init__()
        self.teste, self.finestra = teste, finestra
        self.qkv = nn.Linear(dim, 3 * dim)
        self.uscita = nn.Linear(dim, dim)

    def forward(self, x):
        lotto, lung, dim = x.shape
        q, k, v = self.qkv(x).view(lotto, lung, 3, self.teste, dim // self.teste).permute(2, 0, 3, 1, 4)
        punteggi = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        posto = torch.arange(lung, device=x.device)
        indietro = posto[:, None] - posto[None, :]  # quanto è lontana la chiave, all'indietro
        vista = indietro >= 0
        if self.finestra is not None:
            vista = vista & (indietro <= self.finestra)
        pesi = punteggi.masked_fill(~vista, -torch.inf).softmax(dim=-1)
        return self.uscita((pesi @ v).transpose(1, 2).reshape(lotto, lung, dim))
