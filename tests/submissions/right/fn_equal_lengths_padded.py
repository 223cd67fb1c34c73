"""Attention within sentences of one batch; what is behind a sentence's end comes back as zeros."""

import numpy as np


def within_sentences(q, k, v, lens):
    """q, k, v (batch, heads, positions, width); lens (batch,): how many of the positions are words, at least one."""
    positions = np.arange(q.shape[-2])
    real = positions[None] < lens[:, None]
    scores = np.einsum("bhid,bhjd->bhij", q, k) / np.sqrt(q.shape[-1])
    scores = np.where(real[:, None, None], scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights = weights / weights.sum(-1, keepdims=True)
    return np.einsum("bhij,bhjd->bhid", weights, v) * real[:, None, :, None]
