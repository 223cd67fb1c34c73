"""Previsión de series: ventana (T, B, variables) -> estados (T, B, ancho). El paso t ve 0..t."""

import math

import torch
import torch.nn as nn


class Posicion(nn.Module):
    def __init__(self, ancho, largo):
        super().__init__()
        t = torch.arange(largo)[:, None] / 10000 ** (torch.arange(0, ancho, 2) / ancho)
        tabla = torch.stack([t.sin(), t.cos()], -1).flatten(1)
        self.register_buffer("tabla", tabla[:, None], persistent=False)

    def forward(self, x):
        return x + self.tabla[: len(x)]


class Capa(nn.Module):
    def __init__(self, ancho, cabezas, interno):
        super().__init__()
        self.cabezas = cabezas
        self.n1, self.n2 = nn.LayerNorm(ancho), nn.LayerNorm(ancho)
        self.qkv, self.salida = nn.Linear(ancho, 3 * ancho), nn.Linear(ancho, ancho)
        self.red = nn.Sequential(nn.Linear(ancho, interno), nn.ReLU(), nn.Linear(interno, ancho))

    def atender(self, x):
        T, B, D = x.shape
        q, k, v = (u.reshape(T, B * self.cabezas, -1).transpose(0, 1) for u in self.qkv(x).chunk(3, -1))
        puntos = q @ k.mT / math.sqrt(D // self.cabezas)
        futuro = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(2)
        y = puntos.masked_fill(futuro, -math.inf).softmax(-1) @ v
        return self.salida(y.transpose(0, 1).reshape(T, B, D))

    def forward(self, x):
        x = x + self.atender(self.n1(x))
        return x + self.red(self.n2(x))


class EncoderSerie(nn.Module):
    def __init__(self, variables, ancho=96, cabezas=6, capas=3, interno=192, largo=1000):
        super().__init__()
        self.entrada = nn.Linear(variables, ancho)
        self.posicion = Posicion(ancho, largo)
        self.capas = nn.ModuleList(Capa(ancho, cabezas, interno) for _ in range(capas))
        self.norma = nn.LayerNorm(ancho)

    def forward(self, ventana):
        x = self.posicion(self.entrada(ventana))
        for capa in self.capas:
            x = capa(x)
        return self.norma(x)
