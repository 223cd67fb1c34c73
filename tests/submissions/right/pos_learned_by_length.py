# week 4, exercise 2. Lernbare Positionen.
from torch import nn, arange


class LernbarePositionen(nn.Module):
    def __init__(self, laenge, breite):
        super().__init__()
        self.tabelle = nn.Embedding(num_embeddings=laenge, embedding_dim=breite)

    def forward(self, n):
        """n: Anzahl der Token; Ergebnis (n, breite)"""
        return self.tabelle(arange(n, device=self.tabelle.weight.device))
