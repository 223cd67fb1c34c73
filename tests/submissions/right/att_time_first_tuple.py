"""Attention with the time axis first. The weights are a tuple (wq, wk, wv, wo), used as x @ w."""

import torch


def draw(width, rng=None):
    return tuple(torch.randn(width, width, generator=rng) / width**0.5 for _ in range(4))


def attend(weights, x, memory=None, h=4, ignore=None):
    """x (T, B, width), memory (S, B, width), ignore (B, S): True where a key is padding. Returns (T, B, width)."""
    wq, wk, wv, wo = weights
    memory = x if memory is None else memory
    t, b, width = x.shape
    s, d = memory.shape[0], width // h
    q = (x @ wq).reshape(t, b * h, d).transpose(0, 1)
    k = (memory @ wk).reshape(s, b * h, d).transpose(0, 1)
    v = (memory @ wv).reshape(s, b * h, d).transpose(0, 1)
    scores = torch.bmm(q, k.transpose(1, 2)) / d**0.5
    if ignore is not None:
        scores = scores.masked_fill(ignore.repeat_interleave(h, 0)[:, None, :], -1e9)
    out = torch.bmm(scores.softmax(-1), v)
    return out.transpose(0, 1).reshape(t, b, width) @ wo
