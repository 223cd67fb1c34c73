"""An encoder that reads token ids, in functions over a nested dict."""

import torch
from torch.nn.functional import gelu, layer_norm, linear


def start(vocab, dim, depth, hidden, longest=64):
    def matrix(*shape):
        return torch.randn(*shape) / dim**0.5

    def norm():
        return {"gain": torch.ones(dim), "shift": torch.zeros(dim)}

    def dense(a, b):
        return {"m": matrix(b, a), "c": torch.zeros(b)}

    return {
        "words": matrix(vocab, dim),
        "places": matrix(longest, dim),
        "first": norm(),
        "blocks": [
            {"query": dense(dim, dim), "key": dense(dim, dim), "value": dense(dim, dim), "mix": dense(dim, dim),
             "after_mix": norm(), "wide": dense(dim, hidden), "narrow": dense(hidden, dim), "after_wide": norm()}
            for _ in range(depth)
        ],
    }


def apply(w, x):
    return linear(x, w["m"], w["c"])


def normed(w, x):
    return layer_norm(x, x.shape[-1:], w["gain"], w["shift"])


def encode(w, ids, heads, mask=None):
    """Return a vector for each token.

    ids (batch, length), the tokens
    mask (batch, length), 1 = token, 0 = padding
    """
    batch, length = ids.shape
    if mask is None:
        mask = torch.ones(batch, length)
    h = normed(w["first"], w["words"][ids] + w["places"][:length])
    shift = (1 - mask[:, None, None, :].to(h)) * -1e9
    for block in w["blocks"]:
        q, k, v = (apply(block[n], h).unflatten(-1, (heads, -1)).transpose(1, 2) for n in ("query", "key", "value"))
        scores = q @ k.mT * q.shape[-1] ** -0.5 + shift
        mixed = (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)
        h = normed(block["after_mix"], h + apply(block["mix"], mixed))
        h = normed(block["after_wide"], h + apply(block["narrow"], gelu(apply(block["wide"], h))))
    return h
