"""Attention as in my linear algebra notes: each token is a column."""
import numpy as np


def softmax(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def attention(Q, K, V):
    """Q: (d, n), K: (d, m), V: (p, m) -> (p, n)"""
    S = K.T @ Q / np.sqrt(Q.shape[0])
    A = softmax(S, axis=1)
    return V @ A
