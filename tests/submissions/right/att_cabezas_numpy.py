# Práctica 2: atención con varias cabezas, solo NumPy
import numpy as np


def atencion_varias_cabezas(x, Wq, Wk, Wv, Wo, num_cabezas, mascara=None):
    """x (lote, n, D); matrices (D, D) por la derecha; mascara booleana, verdadero = visible."""
    lote, n, D = x.shape
    q, k, v = ((x @ W).reshape(lote, n, num_cabezas, -1).swapaxes(1, 2) for W in (Wq, Wk, Wv))
    puntos = q @ k.swapaxes(-1, -2) / np.sqrt(D // num_cabezas)
    if mascara is not None:
        puntos = np.where(mascara, puntos, -np.inf)
    e = np.exp(puntos - puntos.max(axis=-1, keepdims=True))
    pesos = e / e.sum(axis=-1, keepdims=True)
    return (pesos @ v).swapaxes(1, 2).reshape(lote, n, D) @ Wo
