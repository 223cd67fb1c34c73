import numpy as np


def causal_attention(q, k, v):
    """Attention of a text to itself: q, k (..., n, d), v (..., n, e); word i reads words 0 to i."""
    n, d = q.shape[-2:]
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(d)
    scores = np.where(np.tri(n, k=1, dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    return weights @ v, weights
