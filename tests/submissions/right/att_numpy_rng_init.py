"""Self-attention with several heads in NumPy: init makes a dict of weights, apply uses it."""
import numpy as np


def init(rng, d_model, n_heads):
    d_head = d_model // n_heads
    draw = lambda *shape: rng.standard_normal(shape) / np.sqrt(d_model)
    return {
        "qkv": draw(3, n_heads, d_model, d_head),
        "out": draw(n_heads, d_head, d_model),
    }


def self_attention(params, x, causal=False):
    """x (B, T, D)."""
    q, k, v = np.einsum("btd,zhde->zbhte", x, params["qkv"])
    scores = np.einsum("bhie,bhje->bhij", q, k) / np.sqrt(q.shape[-1])
    if causal:
        T = x.shape[1]
        scores = np.where(np.tri(T, dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    return np.einsum("bhij,bhje,hed->bid", weights, v, params["out"])
