"""A pre-norm encoder layer over a flat dict of arrays: p[f"layer{i}.attn.wq"], … for layer i."""

import numpy as np


def make(seed, dim, hidden, n_layers):
    rng = np.random.default_rng(seed)
    p = {}
    for i in range(n_layers):
        for w in ("wq", "wk", "wv", "wo"):
            p[f"layer{i}.attn.{w}"] = rng.normal(0, dim**-0.5, (dim, dim))
        for norm in ("ln1", "ln2"):
            p[f"layer{i}.{norm}.g"], p[f"layer{i}.{norm}.b"] = np.ones(dim), np.zeros(dim)
        p[f"layer{i}.mlp.w1"], p[f"layer{i}.mlp.b1"] = rng.normal(0, dim**-0.5, (dim, hidden)), np.zeros(hidden)
        p[f"layer{i}.mlp.w2"], p[f"layer{i}.mlp.b2"] = rng.normal(0, hidden**-0.5, (hidden, dim)), np.zeros(dim)
    return p


def layer_norm(x, g, b):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * g + b


def attention(p, i, x, heads, keep):
    def split(w):
        y = x @ p[f"layer{i}.attn.{w}"]
        return y.reshape(*y.shape[:2], heads, -1).transpose(0, 2, 1, 3)

    q, k, v = split("wq"), split("wk"), split("wv")
    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if keep is not None:
        s = np.where(keep[:, None, None, :], s, -1e30)
    s = np.exp(s - s.max(-1, keepdims=True))
    y = s / s.sum(-1, keepdims=True) @ v
    return y.transpose(0, 2, 1, 3).reshape(x.shape) @ p[f"layer{i}.attn.wo"]


def encoder_layer(p, i, x, heads, keep=None):
    """x (B, T, D); keep (B, T), True on tokens"""
    h = layer_norm(x, p[f"layer{i}.ln1.g"], p[f"layer{i}.ln1.b"])
    x = x + attention(p, i, h, heads, keep)
    h = layer_norm(x, p[f"layer{i}.ln1.g"], p[f"layer{i}.ln1.b"])
    h = np.maximum(h @ p[f"layer{i}.mlp.w1"] + p[f"layer{i}.mlp.b1"], 0)
    return x + h @ p[f"layer{i}.mlp.w2"] + p[f"layer{i}.mlp.b2"]
