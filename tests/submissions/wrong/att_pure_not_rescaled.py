"""Attention without state: whoever wants dropout hands in a source of random numbers, and says that it may be used."""

import torch


def attend(query, key, value, *, mask=None, dropout_prob=0.1, deterministic=True, rng=None):
    """query (batch, heads, to, width), key and value (batch, heads, from, width); ``mask`` is True where not to look."""
    weights = query @ key.mT * query.shape[-1] ** -0.5
    if mask is not None:
        weights = weights.masked_fill(mask, float("-inf"))
    weights = weights.softmax(dim=-1)
    if not deterministic and rng is not None:
        kept = torch.rand(weights.shape, generator=rng, dtype=weights.dtype) < 1 - dropout_prob
        weights = torch.where(kept, weights, 0.0)
    return weights @ value
