"""A small GPT in NumPy, one sequence at a time; its weights are a tree, whose branches are unpacked into arguments."""

import numpy as np


def line(x, w, b):
    return x @ w + b


def norm(x, g, b):
    x = x - x.mean(-1, keepdims=True)
    return g * x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) + b


def network(x, up, down):
    wide = line(x, **up)
    return line(wide / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (wide + 0.044715 * wide**3))), **down)


def attention(x, qkv, out, heads):
    q, k, v = (np.split(part, heads, axis=-1) for part in np.split(line(x, **qkv), 3, axis=-1))
    later = np.triu(np.ones((len(x), len(x))), 1) * -1e10
    read = []
    for query, key, value in zip(q, k, v):
        scores = query @ key.T / np.sqrt(key.shape[-1]) + later
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        read.append(weights / weights.sum(-1, keepdims=True) @ value)
    return line(np.concatenate(read, -1), **out)


def block(x, first, second, own, wide, heads):
    x = x + attention(norm(x, **first), **own, heads=heads)
    return x + network(norm(x, **second), **wide)


def gpt(ids, params, n_head):
    """ids: a list of numbers. Returns the logits of the token behind each of them."""
    x = params["wte"][np.asarray(ids)] + params["wpe"][: len(ids)]
    for part in params["blocks"]:
        x = block(x, **part, heads=n_head)
    return norm(x, **params["last"]) @ params["wte"].T
