"""Self-attention with shared keys, on NumPy arrays that come with every call."""

import numpy as np


def shared_key_attention(tokens, w_q, w_k, w_v, w_o, num_heads, num_kv_heads):
    """One sequence (length, width). Each head of keys and values serves num_heads // num_kv_heads heads of queries."""
    length = len(tokens)
    queries = (tokens @ w_q).reshape(length, num_heads // num_kv_heads, num_kv_heads, -1)
    keys = (tokens @ w_k).reshape(length, num_kv_heads, -1)
    values = (tokens @ w_v).reshape(length, num_kv_heads, -1)
    scores = np.einsum("irgd,jgd->rgij", queries, keys) / queries.shape[-1] ** 0.5
    scores = np.where(np.tri(length, dtype=bool), scores, -np.inf)
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    weights = scores / scores.sum(-1, keepdims=True)
    return np.einsum("rgij,jgd->irgd", weights, values).reshape(length, -1) @ w_o
