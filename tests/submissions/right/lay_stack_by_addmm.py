"""An encoder over the names of a checkpoint, whose layers add their biases before they multiply."""

import torch
from torch.nn import functional as F


def affine(weights, name, x):
    flat = torch.addmm(weights[f"{name}.bias"], x.flatten(0, -2), weights[f"{name}.weight"].T)
    return flat.unflatten(0, x.shape[:-1])


def normed(weights, name, x):
    return F.layer_norm(x, x.shape[-1:], weights[f"{name}.weight"], weights[f"{name}.bias"])


def attention(weights, name, x, heads, padding):
    q, k, v = (affine(weights, f"{name}.{part}", x).unflatten(-1, (heads, -1)).transpose(1, 2) for part in "qkv")
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if padding is not None:
        scores = scores.masked_fill(padding[:, None, None], float("-inf"))
    return affine(weights, f"{name}.out", (scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


def encode(weights, x, heads, padding=None):
    """padding: (batch, tokens), True = nothing is there."""
    depth = len({name.split(".")[1] for name in weights if name.startswith("layers.")})
    for n in range(depth):
        layer = f"layers.{n}"
        x = normed(weights, f"{layer}.norm1", x + attention(weights, f"{layer}.attn", x, heads, padding))
        hidden = torch.relu(affine(weights, f"{layer}.linear1", x))
        x = normed(weights, f"{layer}.norm2", x + affine(weights, f"{layer}.linear2", hidden))
    return x
