"""Attention over a tree of weights, after the style in which sizes stand behind names (N batch, T queries, S keys)."""

import torch


def causal_bias_like(t, s):
    return torch.ones(t, s, dtype=torch.bool).tril()


def draw_tree(key: torch.Generator, width, n_heads, use_bias=True):
    def affine(rows, columns):
        leaf = {"kernel": torch.randn(rows, columns, generator=key) / rows**0.5}
        return {**leaf, "offset": torch.zeros(columns)} if use_bias else leaf

    assert width % n_heads == 0
    return {name: affine(width, width) for name in ("query", "key", "value", "final")}


def apply_affine(leaf, x_NTD):
    out = x_NTD @ leaf["kernel"]
    return out + leaf["offset"] if "offset" in leaf else out


def attention(tree: dict, x_NTD, ctx_NSD=None, *, n_heads, mask_NTS=None, drop=0.0, drop_rng=None):
    """Attend from x_NTD to ctx_NSD, or to x_NTD itself; mask_NTS is True where a query sees a key.

    Weights are dropped only where there is a drop_rng to draw from.
    """
    ctx_NSD = x_NTD if ctx_NSD is None else ctx_NSD
    split = lambda x: x.reshape(*x.shape[:2], n_heads, -1).transpose(1, 2)  # noqa: E731
    q, k, v = (split(apply_affine(tree[n], x)) for n, x in (("query", x_NTD), ("key", ctx_NSD), ("value", ctx_NSD)))
    scores = torch.einsum("nhtd,nhsd->nhts", q, k) / q.shape[-1] ** 0.5
    if mask_NTS is not None:
        scores = torch.where(mask_NTS[:, None], scores, torch.finfo(scores.dtype).min)
    probs = scores.softmax(-1)
    if drop and drop_rng is not None:
        kept = torch.rand(probs.shape, generator=drop_rng) >= drop
        probs = probs * kept / (1 - drop)
    return apply_affine(tree["final"], torch.einsum("nhts,nhsd->nthd", probs, v).flatten(2))
