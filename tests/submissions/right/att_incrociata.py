"""Attenzione incrociata tra testo e audio, dal progetto di fine anno."""

import torch
import torch.nn as nn


class AttenzioneTraSorgenti(nn.Module):
    def __init__(self, dim_query, dim_contesto, teste=4, dim_testa=16):
        super().__init__()
        self.teste, self.scala = teste, dim_testa ** -0.5
        self.a = nn.Linear(dim_query, teste * dim_testa, bias=False)
        self.b = nn.Linear(dim_contesto, teste * dim_testa, bias=False)
        self.c = nn.Linear(dim_contesto, teste * dim_testa, bias=False)
        self.uscita = nn.Linear(teste * dim_testa, dim_query)

    def forward(self, x, contesto, maschera=None):
        """maschera: (lotto, m), True dove la chiave va ignorata"""
        q, k, v = (
            f(s).unflatten(-1, (self.teste, -1)).transpose(1, 2)
            for f, s in ((self.a, x), (self.b, contesto), (self.c, contesto))
        )
        punti = q @ k.mT * self.scala
        if maschera is not None:
            punti = punti.masked_fill(maschera[:, None, None, :], float("-inf"))
        return self.uscita((punti.softmax(-1) @ v).transpose(1, 2).flatten(2))
