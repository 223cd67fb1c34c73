"""Attention masks. Zero is for what may be seen, minus infinity for what may not; add them to the logits."""
import numpy as np
import torch


def hidden(allowed, dtype=torch.float32):
    return torch.zeros(allowed.shape, dtype=dtype).masked_fill(~allowed, -np.inf)


def future_mask(size):
    """(size, size)"""
    place = torch.arange(size)
    return hidden(place[None] <= place[:, None])


def pad_mask(ids, pad_id=0):
    """(batch, 1, 1, length)"""
    return hidden(ids.ne(pad_id))[:, None, None]


def both(ids, pad_id=0):
    """What a decoder adds: (batch, 1, length, length)"""
    return pad_mask(ids, pad_id) + future_mask(ids.shape[1])


def softened(logits, added):
    return (logits + added).softmax(-1)
