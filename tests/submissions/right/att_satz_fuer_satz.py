"""Vorlesung 6: mehrere Köpfe, ein Satz auf einmal. Alles wirkt von rechts: X @ W."""

import numpy as np


def mehrkopf(X, Y, Wq, Wk, Wv, Wo, h, maske=None):
    """X (n, d) fragt, Y (m, d) antwortet; maske (n, m), True: darf hinsehen."""
    c = X.shape[1] // h
    koepfe = []
    for a in range(h):
        s = slice(a * c, (a + 1) * c)
        P = (X @ Wq[:, s]) @ (Y @ Wk[:, s]).T / np.sqrt(c)
        if maske is not None:
            P = np.where(maske, P, -np.inf)
        P = np.exp(P - P.max(axis=1, keepdims=True))
        koepfe.append(P / P.sum(axis=1, keepdims=True) @ (Y @ Wv[:, s]))
    return np.hstack(koepfe) @ Wo
