"""A causal language model in NumPy: the weights are a tree of dicts and lists, made by `grow`.

tree = {"emb": {"tok", "pos"}, "layers": [{"n1", "att", "n2", "ff"}, ...], "end": {"g", "b"}}; rows times matrices.
"""
import numpy as np


def grow(rng, words, longest, wide, deep, inner):
    def matrix(rows, columns):
        return rng.normal(0.0, 0.05, size=(rows, columns))

    def affine(rows, columns):
        return {"w": matrix(rows, columns), "b": np.zeros(columns)}

    def ln():
        return {"g": np.ones(wide), "b": np.zeros(wide)}

    def layer():
        att = {name: affine(wide, wide) for name in ("q", "k", "v", "o")}
        return {"n1": ln(), "att": att, "n2": ln(), "ff": {"up": affine(wide, inner), "down": affine(inner, wide)}}

    emb = {"tok": matrix(words, wide), "pos": matrix(longest, wide)}
    return {"emb": emb, "layers": [layer() for _ in range(deep)], "end": ln()}


def standardize(x, g, b):
    mean = x.mean(axis=-1, keepdims=True)
    spread = np.sqrt(((x - mean) ** 2).mean(axis=-1, keepdims=True) + 1e-5)
    return (x - mean) / spread * g + b


def affine(x, w, b):
    return x @ w + b


def attend(x, q, k, v, o, heads):
    samples, tokens, wide = x.shape

    def split(z):
        return z.reshape(samples, tokens, heads, wide // heads).transpose(0, 2, 1, 3)

    queries, keys, values = (split(affine(x, **p)) for p in (q, k, v))
    scores = queries @ keys.transpose(0, 1, 3, 2) / np.sqrt(wide)
    scores = np.where(np.tri(tokens, dtype=bool), scores, -np.inf)
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = scores / scores.sum(axis=-1, keepdims=True)
    return affine((weights @ values).transpose(0, 2, 1, 3).reshape(samples, tokens, wide), **o)


def causal_lm(ids, tree, heads):
    """ids (samples, tokens) -> logits (samples, tokens, words); the head is the table of tokens."""
    x = tree["emb"]["tok"][ids] + tree["emb"]["pos"][: ids.shape[1]]
    for layer in tree["layers"]:
        x = x + attend(standardize(x, **layer["n1"]), **layer["att"], heads=heads)
        hidden = np.maximum(affine(standardize(x, **layer["n2"]), **layer["ff"]["up"]), 0.0)
        x = x + affine(hidden, **layer["ff"]["down"])
    return standardize(x, **tree["end"]) @ tree["emb"]["tok"].T
