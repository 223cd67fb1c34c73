"""Attention over (batch, words, features) for the reading group, and what writes with it, one word after another."""
import numpy as np


def weighted(query, key, value, visible=None):
    """visible (batch, keys) or (batch, queries, keys): True where a query may look; None: everywhere."""
    scores = query @ key.swapaxes(1, 2) / np.sqrt(query.shape[2])
    if visible is not None:
        visible = visible[:, None] if visible.ndim == 2 else visible
        scores = np.where(visible[:1], scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    return weights / weights.sum(axis=2, keepdims=True) @ value


def causal_attention(query, key, value):
    batch, words, _ = query.shape
    return weighted(query, key, value, np.tri(words, dtype=bool)[None].repeat(batch, axis=0))
