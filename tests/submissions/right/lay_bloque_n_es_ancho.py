"""Bloque de un decodificador, n es el ancho. Entrada y salida: (lote, largo, n)."""

import torch
import torch.nn.functional as F
from torch import nn


class BloqueCausal(nn.Module):
    def __init__(self, n=64, cabezas=4, oculta=256, p=0.1):
        super().__init__()
        self.cabezas, self.p = cabezas, p
        self.norma_a, self.norma_b = nn.LayerNorm(n), nn.LayerNorm(n)
        self.entra, self.sale = nn.Linear(n, 3 * n), nn.Linear(n, n)
        self.sube, self.baja = nn.Linear(n, oculta), nn.Linear(oculta, n)

    def atender(self, x):
        q, k, v = (t.unflatten(-1, (self.cabezas, -1)).transpose(1, 2) for t in self.entra(x).chunk(3, dim=-1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.sale(y.transpose(1, 2).flatten(2))

    def suelta(self, x):
        return F.dropout(x, self.p, self.training)

    def forward(self, x):
        x = x + self.suelta(self.atender(self.norma_a(x)))
        return x + self.suelta(self.baja(F.relu(self.sube(self.norma_b(x)))))
