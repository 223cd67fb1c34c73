"""Attention from a .npz file: NumPy only, so that it runs on the board."""

import numpy as np


def fresh(d_model, rng=None, dtype=np.float32):
    rng = rng or np.random.default_rng()
    limit = (3.0 / d_model) ** 0.5
    p = {"W" + n: rng.uniform(-limit, limit, (d_model, d_model)).astype(dtype) for n in "qkvo"}
    return p | {"b" + n: np.zeros(d_model, dtype=dtype) for n in "qkvo"}


def multi_head_attention(p, x, n_heads=8, causal=False):
    """x (B, T, D) -> (B, T, D). With causal, step t reads the steps up to t."""
    B, T, D = x.shape
    d = D // n_heads
    q, k, v = (
        (x @ p["W" + n] + p["b" + n]).reshape(B, T, n_heads, d).transpose(0, 2, 1, 3) for n in "qkv"
    )
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(d)
    if causal:
        scores = np.where(np.tril(np.ones((T, T), dtype=bool)), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    return (weights @ v).transpose(0, 2, 1, 3).reshape(B, T, D) @ p["Wo"] + p["bo"]
