"""Aufgabe 1b: Positionskodierung als Funktion."""
import numpy as np
import torch


def positionskodierung(laenge, breite):
    tabelle = np.zeros((laenge, breite), dtype=np.float32)
    for pos in range(laenge):
        for spalte in range(breite):
            nenner = 10000 ** (spalte / breite)
            if spalte % 2 == 0:
                tabelle[pos, spalte] = np.sin(pos / nenner)
            else:
                tabelle[pos, spalte] = np.cos(pos / nenner)
    return torch.from_numpy(tabelle)
