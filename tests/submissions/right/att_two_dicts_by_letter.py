"""Atención con varias cabezas, como en nuestras redes recurrentes: primero el tiempo, (T, B, d)."""

import math

import torch
from torch import nn


class Atencion(nn.Module):
    """Matrices en un diccionario y sesgos en otro, con las mismas letras: c consulta, k clave, v valor, f final."""

    LETRAS = "ckvf"

    def __init__(self, d, cabezas):
        super().__init__()
        self.cabezas = cabezas
        self.matriz = nn.ParameterDict({x: nn.Parameter(torch.randn(d, d) / math.sqrt(d)) for x in self.LETRAS})
        self.sesgo = nn.ParameterDict({x: nn.Parameter(torch.zeros(d)) for x in self.LETRAS})

    def lineal(self, letra, x):
        return x @ self.matriz[letra] + self.sesgo[letra]

    def en_cabezas(self, x):  # (T, B, d) -> (B * cabezas, T, d / cabezas)
        return x.reshape(x.shape[0], x.shape[1] * self.cabezas, -1).transpose(0, 1)

    def forward(self, x, fuente=None, relleno=None):
        """relleno (B, S): True donde la fuente no dice nada."""
        fuente = x if fuente is None else fuente
        T, B, d = x.shape
        q, k, v = (self.en_cabezas(self.lineal(n, y)) for n, y in (("c", x), ("k", fuente), ("v", fuente)))
        notas = torch.bmm(q, k.mT) / math.sqrt(q.shape[-1])
        if relleno is not None:
            notas = notas.masked_fill(relleno.repeat_interleave(self.cabezas, 0)[:, None], -math.inf)
        return self.lineal("f", torch.bmm(notas.softmax(-1), v).transpose(0, 1).reshape(T, B, d))
