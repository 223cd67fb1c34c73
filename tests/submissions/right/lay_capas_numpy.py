"""Apuntes, tema 7. El codificador de un transformer en NumPy, para una sola frase.

X tiene una fila por palabra: (n, d). Cada capa es un diccionario de matrices y vectores, y el codificador es la lista.
"""

import numpy as np

EPS = 1e-5


def nueva_capa(d, oculto, rng):
    capa = {f"M{letra}": rng.normal(size=(d, d)) / np.sqrt(d) for letra in "qkvo"}
    capa |= {f"t{letra}": np.zeros(d) for letra in "qkvo"}
    capa |= {"sube": rng.normal(size=(d, oculto)) / np.sqrt(d), "ts": np.zeros(oculto)}
    capa |= {"baja": rng.normal(size=(oculto, d)) / np.sqrt(oculto), "tb": np.zeros(d)}
    return capa | {"ganancia1": np.ones(d), "cero1": np.zeros(d), "ganancia2": np.ones(d), "cero2": np.zeros(d)}


def softmax(z):
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def normaliza(X, ganancia, cero):
    centro = X - X.mean(axis=1, keepdims=True)
    return centro / np.sqrt((centro**2).mean(axis=1, keepdims=True) + EPS) * ganancia + cero


def atiende(X, capa, cabezas, visible):
    n, d = X.shape
    ancho = d // cabezas
    Q, K, V = X @ capa["Mq"] + capa["tq"], X @ capa["Mk"] + capa["tk"], X @ capa["Mv"] + capa["tv"]
    salida = np.empty((n, d))
    for c in range(cabezas):
        parte = slice(c * ancho, (c + 1) * ancho)
        puntos = Q[:, parte] @ K[:, parte].T / np.sqrt(ancho)
        if visible is not None:
            puntos = np.where(visible, puntos, -np.inf)
        salida[:, parte] = softmax(puntos) @ V[:, parte]
    return salida @ capa["Mo"] + capa["to"]


def encoder(X, capas, cabezas, visible=None):
    """Pre-norma, sin norma al final. visible: (n, n), True donde la palabra de la fila puede mirar la de la columna."""
    for capa in capas:
        X = X + atiende(normaliza(X, capa["ganancia1"], capa["cero1"]), capa, cabezas, visible)
        H = np.maximum(normaliza(X, capa["ganancia2"], capa["cero2"]) @ capa["sube"] + capa["ts"], 0)
        X = X + H @ capa["baja"] + capa["tb"]
    return X
