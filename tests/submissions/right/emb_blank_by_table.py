"""Wortvektoren für die Etiketten eines Satzes."""

from torch import Tensor, nn


class Wortvektoren(nn.Module):
    def __init__(self, anzahl: int, breite: int) -> None:
        super().__init__()
        self.tabelle = nn.Embedding(anzahl, breite, 0)
        self.norm = nn.LayerNorm(breite)

    def forward(self, nummern: Tensor) -> Tensor:
        return self.norm(self.tabelle(nummern))
