"""Paikat opitaan: joka paikalla on rivinsä, joka lisätään sanan vektoriin."""

import torch
from torch import nn


class Paikat(nn.Module):
    def __init__(self, leveys, enintään=640):
        super().__init__()
        self.rivit = nn.Parameter(torch.randn(enintään, leveys) / 50)

    def forward(self, sanat):
        pituus = sanat.shape[-2]
        if pituus > len(self.rivit):
            raise ValueError(f"{pituus} sanaa, mutta vain {len(self.rivit)} paikkaa")
        return sanat + self.rivit[:pituus]
