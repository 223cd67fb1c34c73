"""Eine Einbettung ist ein Produkt mit lauter Nullen und einer Eins."""
import torch
from torch import nn
import torch.nn.functional as F


class Einbettung(nn.Module):
    def __init__(self, woerter, breite):
        super().__init__()
        self.matrix = nn.Parameter(torch.randn(woerter, breite) / breite ** 0.5)

    def forward(self, nummern):
        # F.one_hot prüft, ob es die Nummer gibt
        eins = F.one_hot(nummern, num_classes=self.matrix.shape[0])
        return eins.to(self.matrix.dtype) @ self.matrix
