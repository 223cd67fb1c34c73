"""Capa de entrada del traductor: vectores de palabras, multiplicados por la raiz de su ancho."""

import math

import torch
from torch import nn


class EntradaDePalabras(nn.Module):
    """relleno: el numero de la palabra vacia, cuyo vector es cero."""

    def __init__(self, vocabulario, ancho, relleno=0):
        super().__init__()
        self.ancho = ancho
        self.relleno = relleno
        self.tabla = nn.Embedding(vocabulario, ancho)
        nn.init.normal_(self.tabla.weight, std=ancho**-0.5)

    def forward(self, numeros: torch.Tensor) -> torch.Tensor:
        return self.tabla(numeros) * math.sqrt(self.ancho)
