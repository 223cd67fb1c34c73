"""Obrót zapytań i kluczy: sąsiednie cechy to jedna liczba zespolona, mnożona przez liczbę o module 1."""

import torch
from torch import nn


class Obrót(nn.Module):
    def __init__(self, szerokość: int, najdłużej: int = 1500, podstawa: float = 10000.0):
        super().__init__()
        wykładniki = torch.arange(0, szerokość, 2, dtype=torch.float64) / szerokość
        kąty = torch.arange(najdłużej, dtype=torch.float64)[:, None] / podstawa**wykładniki
        self.register_buffer("tablica", torch.exp(1j * kąty), persistent=False)

    def forward(self, zapytania, klucze):
        """Oba (partia, długość, głowy, szerokość)."""
        return self.obrócone(zapytania), self.obrócone(klucze)

    def obrócone(self, x):
        zespolone = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
        return torch.view_as_real(zespolone * self.tablica[: x.shape[1], None].conj()).flatten(-2).to(x.dtype)
