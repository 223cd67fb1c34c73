# Práctica 5 - Capa del codificador
import torch
import torch.nn as nn
import numpy as np

D_MODEL = 40      # dimensión del modelo
N_CABEZAS = 5     # número de cabezas
D_FF = 72         # dimensión oculta


class CapaCodificador(nn.Module):
    def __init__(self):
        super().__init__()
        self.W_Q = nn.Linear(D_MODEL, D_MODEL)
        self.W_K = nn.Linear(D_MODEL, D_MODEL)
        self.W_V = nn.Linear(D_MODEL, D_MODEL)
        self.W_O = nn.Linear(D_MODEL, D_MODEL)
        self.norma1 = nn.LayerNorm(D_MODEL)
        self.norma2 = nn.LayerNorm(D_MODEL)
        self.densa1 = nn.Linear(D_MODEL, D_FF)
        self.densa2 = nn.Linear(D_FF, D_MODEL)

    def separar(self, t):
        # (lote, tiempo, modelo) -> (lote, cabezas, tiempo, d)
        lote, tiempo, _ = t.shape
        return t.reshape(lote, tiempo, N_CABEZAS, D_MODEL // N_CABEZAS).permute(0, 2, 1, 3)

    def forward(self, entrada, mascara=None):
        # mascara: (lote, 1, 1, tiempo), booleana, True = se ve
        Q, K, V = self.separar(self.W_Q(entrada)), self.separar(self.W_K(entrada)), self.separar(self.W_V(entrada))
        puntajes = torch.matmul(Q, K.permute(0, 1, 3, 2)) / float(np.sqrt(D_MODEL / N_CABEZAS))
        if mascara is not None:
            puntajes = puntajes.masked_fill(~mascara, float("-inf"))
        pesos = torch.softmax(puntajes, dim=3)
        contexto = torch.matmul(pesos, V).permute(0, 2, 1, 3).flatten(start_dim=2)
        # suma y normalización (post-norm como en el artículo)
        x = self.norma1(entrada + self.W_O(contexto))
        return self.norma2(x + self.densa2(torch.relu(self.densa1(x))))
