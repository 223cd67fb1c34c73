"""Atención en NumPy puro: los pesos están en un diccionario, con una matriz por cabeza en una lista."""

import numpy as np


class AtencionPorVentanas:
    def __init__(self, d_model, n_heads, causal=False, semilla=3):
        assert d_model % n_heads == 0
        azar = np.random.RandomState(semilla)
        ancho = d_model // n_heads
        self.pesos = {
            letra: [azar.randn(d_model, ancho) / np.sqrt(d_model) for _ in range(n_heads)] for letra in ("q", "k", "v")
        }
        self.pesos["salida"] = azar.randn(d_model, d_model) / np.sqrt(d_model)
        self.gradientes = {
            letra: [np.zeros_like(w) for w in lista] for letra, lista in self.pesos.items() if letra != "salida"
        }
        self.gradientes["salida"] = np.zeros_like(self.pesos["salida"])
        self.causal = causal

    def __call__(self, x, mask=None):
        """x (N, T, d_model); mask (N, T, T), verdadero donde se puede mirar."""
        juntas = []
        for w_q, w_k, w_v in zip(self.pesos["q"], self.pesos["k"], self.pesos["v"]):
            notas = np.einsum("ntd,nsd->nts", x @ w_q, x @ w_k) / np.sqrt(w_q.shape[1])
            if mask is not None:
                notas = np.where(mask, notas, -1e30)
            if self.causal:
                notas = np.where(np.tri(notas.shape[-1], dtype=bool), notas, -1e30)
            notas = np.exp(notas - notas.max(-1, keepdims=True))
            juntas.append(notas / notas.sum(-1, keepdims=True) @ (x @ w_v))
        return np.concatenate(juntas, -1) @ self.pesos["salida"]
