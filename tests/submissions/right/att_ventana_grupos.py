"""Cuaderno de la asignatura de modelos de lenguaje: atencion causal con grupos y giro en coma flotante de 32 bits."""

import math

import torch
from torch import nn


def giro(posiciones, ancho_cabeza, base):
    """Cosenos y senos, (T, ancho_cabeza / 2), siempre en float32."""
    exponentes = torch.arange(0, ancho_cabeza, 2, device=posiciones.device).float() / ancho_cabeza
    angulos = posiciones.float()[:, None] * base**-exponentes
    return angulos.cos(), angulos.sin()


def girar(x, cos, sen):
    una, otra = x.chunk(2, dim=-1)  # la coordenada j va con la j + ancho_cabeza / 2
    return torch.cat([una * cos - otra * sen, una * sen + otra * cos], dim=-1)


class AtencionPorGrupos(nn.Module):
    def __init__(self, dim, cabezas, n_kv, ancho_cabeza, base=10_000.0):
        super().__init__()
        self.cabezas, self.n_kv, self.ancho_cabeza, self.base = cabezas, n_kv, ancho_cabeza, base
        self.consulta = nn.Linear(dim, cabezas * ancho_cabeza, bias=False)
        self.clave = nn.Linear(dim, n_kv * ancho_cabeza, bias=False)
        self.valor = nn.Linear(dim, n_kv * ancho_cabeza, bias=False)
        self.salida = nn.Linear(cabezas * ancho_cabeza, dim, bias=False)

    def forward(self, x):
        lote, largo, _ = x.shape
        q = self.consulta(x).view(lote, largo, self.cabezas, self.ancho_cabeza).transpose(1, 2)
        k = self.clave(x).view(lote, largo, self.n_kv, self.ancho_cabeza).transpose(1, 2)
        v = self.valor(x).view(lote, largo, self.n_kv, self.ancho_cabeza).transpose(1, 2)
        cos, sen = giro(torch.arange(largo, device=x.device), self.ancho_cabeza, self.base)
        q, k = girar(q, cos, sen), girar(k, cos, sen)
        grupo = self.cabezas // self.n_kv
        k, v = k.repeat_interleave(grupo, dim=1), v.repeat_interleave(grupo, dim=1)
        puntos = q @ k.transpose(-1, -2) / math.sqrt(self.ancho_cabeza)
        futuro = torch.ones(largo, largo, dtype=torch.bool, device=x.device).triu(1)
        pesos = puntos.masked_fill(futuro, float("-inf")).softmax(dim=-1)
        return self.salida((pesos @ v).transpose(1, 2).reshape(lote, largo, self.cabezas * self.ancho_cabeza))
