"""Mehrkopf-Aufmerksamkeit in NumPy; jeder Kopf hat eigene Matrizen im selben Wörterbuch: gewichte["kopf2.q"] usw."""

import numpy as np


def neue_gewichte(zufall, breite, koepfe, kopfbreite):
    gewichte = {}
    for nr in range(koepfe):
        for art in ("q", "k", "v"):
            gewichte[f"kopf{nr}.{art}"] = zufall.normal(0, breite**-0.5, (breite, kopfbreite))
        gewichte[f"kopf{nr}.out"] = zufall.normal(0, kopfbreite**-0.5, (kopfbreite, breite))
    return gewichte


def anteile(werte):
    werte = np.exp(werte - werte.max(axis=-1, keepdims=True))
    return werte / werte.sum(axis=-1, keepdims=True)


def aufmerksamkeit(gewichte, x, maske=None):
    """x: (Satz, Wort, breite); maske: True, wo hingesehen werden darf, (Satz, Wort, Wort)."""
    summe = np.zeros_like(x)
    nr = 0
    while f"kopf{nr}.q" in gewichte:
        q, k, v = (x @ gewichte[f"kopf{nr}.{art}"] for art in ("q", "k", "v"))
        punkte = q @ k.swapaxes(-1, -2) / np.sqrt(k.shape[-1])
        if maske is not None:
            punkte = np.where(maske, punkte, -1e30)
        summe = summe + anteile(punkte) @ v @ gewichte[f"kopf{nr}.out"]
        nr += 1
    return summe
