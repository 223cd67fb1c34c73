"""Aufgabe 3: Masken. True = sichtbar."""

import torch


def kausale_maske(laenge):
    stelle = torch.arange(laenge)
    return stelle.unsqueeze(1) >= stelle.unsqueeze(0)


def fuellmaske(kennungen, fuell_id=0):
    return (kennungen != fuell_id)[:, None, None]


def decoder_maske(kennungen, fuell_id=0):
    return fuellmaske(kennungen, fuell_id) & kausale_maske(kennungen.shape[-1])
