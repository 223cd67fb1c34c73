"""Normalisierung für das Praktikum: LayerNorm und RMSNorm, nach Wahl."""

import torch
from torch import Tensor, nn


class SchichtNorm(nn.Module):
    """LayerNorm: Mittelwert und Streuung über die letzte Achse."""

    def __init__(self, breite: int, eps: float = 1e-5):
        super().__init__()
        self.gewicht = nn.Parameter(torch.ones(breite))
        self.versatz = nn.Parameter(torch.zeros(breite))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        streuung, mittel = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
        return self.gewicht * (x - mittel) / (streuung + self.eps).sqrt() + self.versatz


class QuadratNorm(nn.Module):
    """RMSNorm: nur das quadratische Mittel."""

    def __init__(self, breite: int, eps: float = 1e-6):
        super().__init__()
        self.gewicht = nn.Parameter(torch.ones(breite))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        return self.gewicht * x / (x.pow(2).mean(dim=-1, keepdim=True) + self.eps).sqrt()


def normierung(art: str, breite: int, eps: float) -> nn.Module:
    arten = {"schicht": SchichtNorm, "quadrat": QuadratNorm, "torch": nn.LayerNorm}
    if art not in arten:
        raise ValueError("unbekannt: " + art)
    wahl = arten[art]
    return wahl(breite, eps=eps)
