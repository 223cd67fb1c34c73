"""One layer of a loaded encoder; `state` is what load() read from the file, `at` the place of the layer in it."""

import torch
import torch.nn.functional as F


def load(path):
    return torch.load(path, map_location="cpu", weights_only=True)


def affine(state, at, x):
    return F.linear(x, state[at + ".weight"], state[at + ".bias"])


def normed(state, at, x):
    return F.layer_norm(x, x.shape[-1:], state[at + ".weight"], state[at + ".bias"], 1e-5)


def encoder_layer(state, at, x, num_heads, padding=None):
    """Post-norm, ReLU. x (batch, tokens, features); padding (batch, tokens): True where there is no token."""
    b, t, d = x.shape
    q, k, v = (
        affine(state, f"{at}.attention.{n}", x).view(b, t, num_heads, d // num_heads).transpose(1, 2)
        for n in ("query", "key", "value")
    )
    weights = q @ k.transpose(-1, -2) * (d // num_heads) ** -0.5
    if padding is not None:
        weights = weights.masked_fill(padding[:, None, None], float("-inf"))
    y = (weights.softmax(-1) @ v).transpose(1, 2).reshape(b, t, d)
    x = normed(state, f"{at}.norm1", x + affine(state, f"{at}.attention.out", y))
    y = affine(state, f"{at}.ffn.out", F.relu(affine(state, f"{at}.ffn.inner", x)))
    return normed(state, f"{at}.norm2", x + y)
