"""A language model as functions over a dict; a sequence begins with nothing for each layer, and goes on with the pairs.

p holds tensors by name, those of layer i as "i.name". Rows of matrices are outputs.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F


class Sizes(NamedTuple):
    vocab_size: int
    dim: int
    n_heads: int
    n_layers: int
    hidden_dim: int


def init_params(sizes, seed=0):
    g = torch.Generator().manual_seed(seed)
    shapes = {"embed": (sizes.vocab_size, sizes.dim), "head": (sizes.vocab_size, sizes.dim)}
    for i in range(sizes.n_layers):
        shapes |= {f"{i}.{name}": (sizes.dim, sizes.dim) for name in ("wq", "wk", "wv", "wo")}
        shapes |= {f"{i}.up": (sizes.hidden_dim, sizes.dim), f"{i}.down": (sizes.dim, sizes.hidden_dim)}
    p = {name: torch.randn(*shape, generator=g) * shape[1] ** -0.5 for name, shape in shapes.items()}
    gains = ["norm", *(f"{i}.{name}_norm" for i in range(sizes.n_layers) for name in ("attn", "mlp"))]
    return p | {name: torch.ones(sizes.dim) for name in gains}


def rms_norm(x, weight, eps=1e-5):
    return F.rms_norm(x, weight.shape, weight, eps)


def rotary(x, start):
    """x (B, H, T, D): the first half of each head turns with the second."""
    half = x.shape[-1] // 2
    rates = 10000.0 ** (-torch.arange(half, dtype=x.dtype, device=x.device) / half)
    angles = torch.arange(start, start + x.shape[2], dtype=x.dtype, device=x.device)[:, None] * rates
    a, b = x.split(half, dim=-1)
    return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], dim=-1)


def attend(p, i, x, n_heads, past):
    q, k, v = (F.linear(x, p[f"{i}.{n}"]).unflatten(-1, (n_heads, -1)).transpose(1, 2) for n in ("wq", "wk", "wv"))
    start = 0 if past is None else past[0].shape[2]
    q, k = rotary(q, 0), rotary(k, 0)
    if past is not None:
        k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
    seen = torch.ones(x.shape[1], k.shape[2], dtype=torch.bool, device=x.device).tril(start)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=seen)
    return F.linear(out.transpose(1, 2).flatten(2), p[f"{i}.wo"]), (k, v)


def forward(p, sizes, tokens, cache=None):
    """tokens (B, T): logits; with a cache, which holds a pair or None for each layer, also the pairs."""
    x, pairs = p["embed"][tokens], []
    for i in range(sizes.n_layers):
        out, pair = attend(p, i, rms_norm(x, p[f"{i}.attn_norm"]), sizes.n_heads, cache[i] if cache else None)
        x = x + out
        x = x + F.linear(F.silu(F.linear(rms_norm(x, p[f"{i}.mlp_norm"]), p[f"{i}.up"])), p[f"{i}.down"])
        pairs.append(pair)
    logits = F.linear(rms_norm(x, p["norm"]), p["head"])
    return logits if cache is None else (logits, pairs)
