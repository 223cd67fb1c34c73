"""An encoder layer as a function of its parameters: dicts in dicts, lists where there are several alike."""
import torch


def dense_params(key, rows, columns):
    g = torch.Generator().manual_seed(key)
    return {"kernel": torch.randn(rows, columns, generator=g) / rows**0.5, "bias": torch.zeros(columns)}


def layer_params(key, d_model, d_ff):
    return {
        "attention": {n: dense_params(key + i, d_model, d_model) for i, n in enumerate(["query", "key", "value", "out"])},
        "network": [dense_params(key + 4, d_model, d_ff), dense_params(key + 5, d_ff, d_model)],
        "norms": [{"scale": torch.ones(d_model), "shift": torch.zeros(d_model)} for _ in range(2)],
    }


def dense(p, x):
    return x @ p["kernel"] + p["bias"]


def norm(p, x):
    mean, variance = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, unbiased=False)
    return (x - mean) / torch.sqrt(variance + 1e-5) * p["scale"] + p["shift"]


def attend(p, x, n_heads, allowed):
    q, k, v = (dense(p[n], x).unflatten(-1, (n_heads, -1)).transpose(1, 2) for n in ("query", "key", "value"))
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if allowed is not None:
        scores = scores.masked_fill(~allowed, float("-inf"))
    return dense(p["out"], (scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


def encoder_layer(params, x, *, n_heads, allowed=None):
    """x (B, T, D); allowed (B, 1 or H, T, T), True where a token may look."""
    x = x + attend(params["attention"], norm(params["norms"][0], x), n_heads, allowed)
    up, down = params["network"]
    return x + dense(down, torch.relu(dense(up, x)))
