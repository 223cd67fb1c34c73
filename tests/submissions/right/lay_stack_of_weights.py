"""A pre-norm encoder as a function of nested weights: a list with a dict for each layer, and a last norm."""

import torch
import torch.nn.functional as F


def make_norm(d):
    return {"scale": torch.ones(d), "shift": torch.zeros(d)}


def make_linear(rng, d_in, d_out):
    return {"w": torch.randn(d_in, d_out, generator=rng) / d_in**0.5, "b": torch.zeros(d_out)}


def make_weights(rng, *, depth, d_model, d_ff):
    layers = [
        {
            "in": make_norm(d_model),
            "qkv": make_linear(rng, d_model, 3 * d_model),
            "out": make_linear(rng, d_model, d_model),
            "between": make_norm(d_model),
            "up": make_linear(rng, d_model, d_ff),
            "down": make_linear(rng, d_ff, d_model),
        }
        for _ in range(depth)
    ]
    return {"layers": layers, "last": make_norm(d_model)}


def linear(p, x):
    return x @ p["w"] + p["b"]


def norm(p, x):
    return F.layer_norm(x, x.shape[-1:], p["scale"], p["shift"], 1e-5)


def attend(p, x, heads, padding):
    q, k, v = linear(p["qkv"], x).unflatten(-1, (3, heads, -1)).permute(2, 0, 3, 1, 4)
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if padding is not None:
        scores = scores.masked_fill(padding[:, None, None], float("-inf"))
    return linear(p["out"], (scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


def encoder(weights, x, *, heads, padding=None):
    """x (B, T, D); padding (B, T), True where there is no token."""
    for p in weights["layers"]:
        x = x + attend(p, norm(p["in"], x), heads, padding)
        x = x + linear(p["down"], F.relu(linear(p["up"], norm(p["between"], x))))
    return norm(weights["last"], x)
