"""What hides positions: True hides, and what is called a bias is added to scores."""

import torch


def no_peeking(n):
    at = torch.arange(n)
    return at[None] > at[:, None]


def causal_mask(n):
    return no_peeking(n)


def pad_mask(ids, filler=0):
    return ids == filler


def as_bias(hidden, dtype=torch.float32):
    return torch.zeros(hidden.shape, dtype=dtype).masked_fill(hidden, float("-inf"))


def target_bias(ids, filler=0):
    """(batch, 1, length, length)"""
    hidden = causal_mask(ids.shape[1])[None] | pad_mask(ids, filler)[:, None]
    return as_bias(hidden)[:, None]
