"""A small GPT without objects: every function is handed the weights that it needs, and no others."""

import numpy as np


def squash(t):
    t = np.exp(t - t.max(axis=-1, keepdims=True))
    return t / t.sum(axis=-1, keepdims=True)


def centre(t, gain, bias, eps=1e-5):
    t = t - t.mean(axis=-1, keepdims=True)
    return t / np.sqrt((t * t).mean(axis=-1, keepdims=True) + eps) * gain + bias


def dense(t, kernel, bias):
    return t @ kernel + bias


def self_attention(t, qkv, out, heads):
    steps, width = t.shape
    q, k, v = dense(t, **qkv).reshape(steps, 3, heads, width // heads).transpose(1, 2, 0, 3)
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(width // heads)
    later = np.arange(steps)[:, None] < np.arange(steps)
    mixed = squash(np.where(later, -np.inf, scores)) @ v
    return dense(mixed.transpose(1, 0, 2).reshape(steps, width), **out)


def network(t, up, down):
    return dense(np.maximum(dense(t, **up), 0), **down)


def gpt_logits(ids, token_rows, place_rows, stack, last, heads):
    """Logits (T, V) of one text of T ids."""
    t = token_rows[ids] + place_rows[1 : len(ids) + 1]
    for part in stack:
        t = t + self_attention(centre(t, **part["before"]), **part["attention"], heads=heads)
        t = t + network(centre(t, **part["between"]), **part["network"])
    return centre(t, **last) @ token_rows.T
