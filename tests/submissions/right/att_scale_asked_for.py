"""Attention as a function; another scale can be asked for."""

import torch


def scaled_dot_product_attention(query, key, value, mask=None, scale=None):
    """Return softmax(scale · q kᵀ) v; scale is 1/√d where None is given."""
    scores = query @ key.transpose(-2, -1) * (query.shape[-1] ** -0.5 if scale is None else scale)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.softmax(scores, dim=-1) @ value
