"""Embedding dei token per il traduttore."""
import math

from torch import nn


class EmbeddingToken(nn.Module):
    """Se `indice_pad` e' dato, quel token ha il vettore nullo e non impara."""

    def __init__(self, vocabolario, dim, indice_pad=None):
        super().__init__()
        self.tabella = nn.Embedding(vocabolario, dim, padding_idx=indice_pad)
        nn.init.normal_(self.tabella.weight, std=dim ** -0.5)
        self.fattore = math.sqrt(dim)

    def forward(self, ids):
        return self.tabella(ids) * self.fattore
