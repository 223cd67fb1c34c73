import torch
import torch.nn as nn


def arrondi(n, pas):
    return ((n + pas - 1) // pas) * pas


class ReseauGLU(nn.Module):
    def __init__(self, dim, dim_interne=None, pas=64, biais=False):
        super().__init__()
        dim_interne = arrondi(8 * dim // 3, pas) if dim_interne is None else dim_interne
        self.porte = nn.Linear(dim, dim_interne, bias=biais)
        self.montee = nn.Linear(dim, dim_interne, bias=biais)
        self.descente = nn.Linear(dim_interne, dim, bias=biais)

    def forward(self, x):
        return self.descente(nn.functional.silu(self.porte(x) * self.montee(x)))
