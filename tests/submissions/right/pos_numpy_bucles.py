"""Tarea 3 - codificación posicional.

Usamos numpy y dos bucles, tal como aparece la fórmula en el artículo.
"""
import numpy as np


def codificacion_posicional(n_posiciones, d, n=10000):
    P = np.zeros((n_posiciones, d))
    for k in range(n_posiciones):
        for i in range(d // 2):
            denominador = np.power(n, 2 * i / d)
            P[k, 2 * i] = np.sin(k / denominador)      # columnas pares: seno
            P[k, 2 * i + 1] = np.cos(k / denominador)  # columnas impares: coseno
        if d % 2:
            P[k, d - 1] = np.sin(k / np.power(n, (d - 1) / d))
    return P


if __name__ == '__main__':
    P = codificacion_posicional(4, 4, n=100)
    print(P)
