"""Causal self-attention for a checkpoint that is read elsewhere: a dict of arrays, vectors are rows."""

import numpy as np


def softmax(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def causal_attention(x, weights, n_head):
    """x (batch, time, width); weights: "c_attn" (width, 3 * width), "c_attn_b", "c_proj" (width, width), "c_proj_b"."""
    batch, time, width = x.shape
    qkv = x @ weights["c_attn"] + weights["c_attn_b"]
    q, k, v = (part.reshape(batch, time, n_head, -1).swapaxes(1, 2) for part in np.split(qkv, 3, axis=-1))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(width)
    later = np.triu(np.ones((time, time), dtype=bool), 1)
    y = softmax(np.where(later, -np.inf, scores)) @ v
    return y.swapaxes(1, 2).reshape(batch, time, width) @ weights["c_proj"] + weights["c_proj_b"]
