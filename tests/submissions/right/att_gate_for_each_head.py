"""Eine Schicht mit einem Tor für jeden Kopf: das Tor sieht, was die Anfrage sieht."""

import numpy as np
import torch
from torch import nn


class Aufmerksamkeit(nn.Module):
    """x (Stapel, Länge, breite); kausal, wie in einem Sprachmodell."""

    def __init__(self, breite: int, koepfe: int):
        super().__init__()
        self.koepfe = koepfe

        def matrix(spalten):
            return nn.Parameter(torch.randn(breite, spalten) / np.sqrt(breite))

        self.w_q, self.w_k, self.w_v, self.w_o = (matrix(breite) for _ in range(4))
        self.w_tor, self.b_tor = matrix(koepfe), nn.Parameter(torch.zeros(koepfe))

    def forward(self, x):
        stapel, laenge, breite = x.shape
        q, k, v = (
            (x @ w).reshape(stapel, laenge, self.koepfe, -1).permute(0, 2, 1, 3) for w in (self.w_q, self.w_k, self.w_v)
        )
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        tor = torch.sigmoid(x @ self.w_tor + self.b_tor)  # (Stapel, Länge, koepfe)
        y = y * tor.transpose(1, 2).unsqueeze(-1)
        return y.permute(0, 2, 1, 3).reshape(stapel, laenge, breite) @ self.w_o
