"""A pre-norm encoder over a checkpoint: every part of it sees only the tensors below its own name."""

import torch
from torch.nn import functional as F


def below(tensors, name):
    start = name + "."
    return {key.removeprefix(start): t for key, t in tensors.items() if key.startswith(start)}


def affine(part, x):
    return F.linear(x, part["weight"], part["bias"])


def normed(part, x):
    return F.layer_norm(x, (x.size(-1),), part["weight"], part["bias"], 1e-6)


def self_attention(part, x, key_mask, num_heads):
    def heads(name):
        return affine(below(part, name), x).unflatten(2, (num_heads, -1)).movedim(2, 1)

    q, k, v = heads("query"), heads("key"), heads("value")
    scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / q.size(-1) ** 0.5
    if key_mask is not None:
        scores = scores.masked_fill(~key_mask[:, None, None], float("-inf"))
    mixed = torch.einsum("bhqk,bhkd->bhqd", scores.softmax(-1), v)
    return affine(below(part, "out"), mixed.movedim(1, 2).flatten(2))


def feed_forward(part, x):
    return affine(below(part, "down"), F.relu(affine(below(part, "up"), x)))


def encode(tensors, x, num_layers, num_heads, key_mask=None):
    """x (batch, length, width); key_mask (batch, length), True where there is a token."""
    for number in range(num_layers):
        layer = below(tensors, f"layers.{number}")
        norms = below(layer, "norm1"), below(layer, "norm1")
        x = x + self_attention(below(layer, "attention"), normed(norms[0], x), key_mask, num_heads)
        x = x + feed_forward(below(layer, "mlp"), normed(norms[1], x))
    return normed(below(tensors, "norm"), x)
