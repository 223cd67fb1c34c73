"""One block of a language model as functions over a tree of weights: attention and network read the same vectors."""

import torch
import torch.nn.functional as F


def make_block(seed, width, n_heads, inner):
    g = torch.Generator().manual_seed(seed)

    def dense(rows, columns):
        return {"kernel": 0.02 * torch.randn(rows, columns, generator=g), "bias": torch.zeros(columns)}

    def norm():
        return {"gain": torch.ones(width), "offset": torch.zeros(width)}

    assert width % n_heads == 0
    return {
        "first": norm(),
        "second": norm(),
        "fused": dense(width, 3 * width),  # columns: for each head its query, its key, its value
        "mix": dense(width, width),
        "up": dense(width, inner),
        "down": dense(inner, width),
    }


def apply(part, x):
    return x @ part["kernel"] + part["bias"]


def normalize(part, x, eps=1e-5):
    centred = x - x.mean(-1, keepdim=True)
    return centred / torch.sqrt(centred.square().mean(-1, keepdim=True) + eps) * part["gain"] + part["offset"]


def turn_part(x, features):
    rates = 10000.0 ** (-torch.arange(0, features, 2, device=x.device, dtype=torch.float64) / x.shape[-1])
    angles = torch.arange(x.shape[1], device=x.device, dtype=torch.float64)[:, None, None] * rates
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b, rest = x.split([features // 2, features // 2, x.shape[-1] - features], dim=-1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin, rest], dim=-1)


def attend(weights, x, n_heads, rotary_fraction):
    head = x.shape[-1] // n_heads
    q, k, v = apply(weights["fused"], x).unflatten(-1, (n_heads, 3 * head)).split(head, dim=-1)
    features = int(head * rotary_fraction)
    scores = torch.einsum("bthd,bshd->bhts", turn_part(q, features), turn_part(k, features)) / head**0.5
    later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=x.device).triu(1)
    out = torch.einsum("bhts,bshd->bthd", scores.masked_fill(later, float("-inf")).softmax(-1), v)
    return apply(weights["mix"], out.flatten(-2))


def transformer_block(weights, x, *, n_heads, rotary_fraction=0.5):
    """x (batch, time, width). Causal; the leading part of each head turns."""
    mixed = attend(weights, normalize(weights["first"], x), n_heads, rotary_fraction)
    hidden = F.gelu(apply(weights["up"], normalize(weights["second"], x)))
    return x + mixed + apply(weights["down"], hidden)
