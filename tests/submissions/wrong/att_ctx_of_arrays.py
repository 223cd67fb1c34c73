"""One sequence reads another; arrays in a dict, heads last in the scores."""
import numpy as np


def init_reading(rng, d_q, d_ctx, heads, d_head):
    shapes = {
        "q": (d_q, heads, d_head),
        "k": (d_ctx, heads, d_head),
        "v": (d_ctx, heads, d_head),
        "o": (heads, d_head, d_q),
    }
    return {name: rng.standard_normal(shape).astype(np.float32) * 0.1 for name, shape in shapes.items()}


def reading(params, x, ctx, ctx_keep=None):
    """x (B, N, d_q) reads ctx (B, M, d_ctx); ctx_keep (B, M), True where there is something to read."""
    q = np.einsum("bnc,chd->bnhd", x, params["q"])
    k = np.einsum("bmc,chd->bmhd", ctx, params["k"])
    v = np.einsum("bmc,chd->bmhd", ctx, params["v"])
    scores = np.einsum("bnhd,bmhd->bnmh", q, k) / np.sqrt(q.shape[-1])
    if ctx_keep is not None:
        scores = np.where(ctx_keep[:, None, :, None], scores, -1e9)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = weights / weights.sum(axis=1, keepdims=True)
    return np.einsum("bnmh,bmhd,hdc->bnc", weights, v, params["o"]).astype(x.dtype)
