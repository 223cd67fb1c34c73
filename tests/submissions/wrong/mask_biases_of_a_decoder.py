"""Hidden places are True, and what is called a bias is added to scores."""

import torch


def ahead(n):
    at = torch.arange(n)
    return at[None] >= at[:, None]


def causal_mask(n):
    return ahead(n)


def pad_mask(ids, blank=0):
    return ids == blank


def to_bias(hidden, dtype=torch.float32):
    return torch.zeros(hidden.shape, dtype=dtype).masked_fill(hidden, float("-inf"))


def target_bias(ids, blank=0):
    """(batch, 1, length, length)"""
    hidden = causal_mask(ids.shape[1])[None] | pad_mask(ids, blank)[:, None]
    return to_bias(hidden)[:, None]
