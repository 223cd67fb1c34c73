"""Attention as a pair of functions over nested dicts; the width of the memory is that of the queries unless told."""

import torch
from torch import Tensor


def init_attention(rng, q_dim, num_heads, head_dim, kv_dim=None, out_dim=None):
    kv_dim = q_dim if kv_dim is None else kv_dim
    out_dim = q_dim if out_dim is None else out_dim

    def dense(rows, *columns):
        w = torch.empty(rows, *columns).normal_(0.0, rows**-0.5, generator=rng)
        return {"w": w, "b": torch.zeros(columns)}

    return {
        "q": dense(q_dim, num_heads, head_dim),
        "k": dense(kv_dim, num_heads, head_dim),
        "v": dense(kv_dim, num_heads, head_dim),
        "o": {
            "w": torch.empty(num_heads, head_dim, out_dim).normal_(0.0, 0.2, generator=rng),
            "b": torch.zeros(out_dim),
        },
    }


def split(tree: dict, x: Tensor) -> Tensor:
    y = torch.einsum("bnd,dhe->bhne", x, tree["w"])
    return y + tree["b"].unsqueeze(1) if "b" in tree else y


def attention(tree: dict, x: Tensor, context: Tensor | None = None, mask: Tensor | None = None) -> Tensor:
    """mask: True where a query may look, (batch, 1 or heads, queries, keys)"""
    context = x if context is None else context
    q, k, v = split(tree["q"], x), split(tree["k"], context), split(tree["v"], context)
    logits = torch.einsum("bhne,bhme->bhnm", q * q.shape[-1] ** -0.5, k)
    if mask is not None:
        logits = logits.where(mask, torch.finfo(logits.dtype).min)
    y = torch.einsum("bhnm,bhme,hed->bnd", logits.softmax(-1), v, tree["o"]["w"])
    return y + tree["o"]["b"] if "b" in tree["o"] else y
