"""Aandacht voor een zoekmachine: elke vraag weegt de stukken."""

import torch


def weeg(vragen, sleutels, waarden, zichtbaar=None):
    """vragen (groep, deel, v, d), sleutels (groep, deel, s, d), waarden (groep, deel, s, w); zichtbaar: 1 telt mee."""
    punten = torch.einsum("gdvi,gdsi->gdvs", vragen, sleutels)
    if zichtbaar is not None:
        punten = punten.masked_fill(zichtbaar == 0, -1e9)
    gewichten = torch.exp(punten - punten.amax(-1, keepdim=True))
    gewichten = gewichten / gewichten.sum(-1, keepdim=True)
    return torch.einsum("gdvs,gdsw->gdvw", gewichten, waarden), gewichten
