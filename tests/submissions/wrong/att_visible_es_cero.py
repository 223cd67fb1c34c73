"""Atención de varias cabezas, con máscara de unos y ceros."""

import torch
from torch import nn


def atender(q, k, v, mask=None):
    """Pesa los valores.

    q, k, v: (lote, cabezas, n, d)
    mask: float que se expande a (lote, cabezas, n_q, n_k), o None.
        1 = posición visible, 0 = posición tapada
    """
    puntos = torch.einsum("bhqd,bhkd->bhqk", q, k) / q.shape[-1] ** 0.5
    if mask is not None:
        puntos = puntos + mask * -1e9
    pesos = torch.softmax(puntos, dim=-1)
    return torch.einsum("bhqk,bhkd->bhqd", pesos, v), pesos


class Cabezas(nn.Module):
    def __init__(self, d_model, n_cabezas):
        super().__init__()
        self.n, self.d = n_cabezas, d_model // n_cabezas
        self.consulta = nn.Linear(d_model, d_model)
        self.clave = nn.Linear(d_model, d_model)
        self.valor = nn.Linear(d_model, d_model)
        self.salida = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        q = self.consulta(query).unflatten(-1, (self.n, self.d)).transpose(1, 2)
        k = self.clave(key).unflatten(-1, (self.n, self.d)).transpose(1, 2)
        v = self.valor(value).unflatten(-1, (self.n, self.d)).transpose(1, 2)
        junto, pesos = atender(q, k, v, mask)
        return self.salida(junto.transpose(1, 2).flatten(2)), pesos
