"""Una capa de codificador, con las matrices escritas por mí; al optimizador se las paso yo."""

import math

import torch
from torch import nn


def matriz(filas, columnas):
    return (torch.randn(filas, columnas) / math.sqrt(filas)).requires_grad_()


class Atencion(nn.Module):
    def __init__(self, d_modelo, cabezas):
        super().__init__()
        self.cabezas = cabezas
        self.w_q, self.w_k, self.w_v, self.w_o = (matriz(d_modelo, d_modelo) for _ in range(4))

    def forward(self, x):
        n, t, d = x.shape
        q, k, v = ((x @ w).view(n, t, self.cabezas, -1).transpose(1, 2) for w in (self.w_q, self.w_k, self.w_v))
        pesos = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(d // self.cabezas), dim=-1)
        return (pesos @ v).transpose(1, 2).reshape(n, t, d) @ self.w_o


class CapaCodificador(nn.Module):
    """norma(x + f(x)), como en el artículo de 2017."""

    def __init__(self, d_modelo: int, cabezas: int, d_ff: int):
        super().__init__()
        self.atencion = Atencion(d_modelo, cabezas)
        self.norma_1 = nn.LayerNorm(d_modelo)
        self.norma_2 = nn.LayerNorm(d_modelo)
        self.w_1, self.b_1 = matriz(d_modelo, d_ff), torch.zeros(d_ff, requires_grad=True)
        self.w_2, self.b_2 = matriz(d_ff, d_modelo), torch.zeros(d_modelo, requires_grad=True)

    def forward(self, x):
        x = self.norma_1(x + self.atencion(x))
        return self.norma_2(x + torch.relu(x @ self.w_1 + self.b_1) @ self.w_2 + self.b_2)
