"""
attention.py - Assignment 4
Implements attention for batched inputs of shape (N, T, D).
"""
import torch


def compute_scores(query, key):
    """dot product of every query with every key, scaled"""
    d = query.shape[2]
    return torch.bmm(query, key.permute(0, 2, 1)) / (d ** 0.5)


def attention_forward(query, key, value, mask=None):
    """
    Inputs:
    - query: N x T x D
    - key: N x S x D
    - value: N x S x D
    - mask: T x S, 1 where attention is allowed
    Returns: N x T x D
    """
    scores = compute_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    probs = scores.softmax(0)
    return torch.bmm(probs, value)
