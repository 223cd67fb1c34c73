"""Scaled dot-product attention.

Symbols as in spec/attention.md: ... any equal leading axes, L queries, S keys, E width of a query
or key, F width of a value.
"""

import torch
from torch import Tensor, einsum

from attnconf.reference.masks import add_bias, blank, hide


def refuse_misfits(q: Tensor, k: Tensor, v: Tensor) -> None:
    """Raise ValueError unless queries, keys and values fit together.

    Shapes:
        q  (..., L, E)
        k  (..., S, E)
        v  (..., S, F)

    Said explicitly because einsum would stretch an axis of size 1 to fit, silently.

    Requirements: ATT-ERROR-1.
    """
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"queries are {q.shape[-1]} wide, keys {k.shape[-1]}")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError(f"there are {k.shape[-2]} keys, but {v.shape[-2]} values")
    if not q.shape[:-2] == k.shape[:-2] == v.shape[:-2]:
        raise ValueError(f"leading axes differ: {list(q.shape[:-2])}, {list(k.shape[:-2])} and {list(v.shape[:-2])}")


def default_scale(q: Tensor) -> float:
    """Return 1/√E, E the width of one query; keeps the scores' variance near 1.

    Requirements: ATT-SCALE-1.
    Source: Vaswani et al. 2017, arXiv:1706.03762v7, section 3.2.1, eq. (1) and footnote 4.
    """
    return float(q.shape[-1] ** -0.5)


def score(q: Tensor, k: Tensor, scale: float) -> Tensor:
    """Return scale · q kᵀ.

    Shapes:
        q    (..., L, E)
        k    (..., S, E)
        out  (..., L, S)

    q is scaled before the product, so that half precision does not overflow in it.

    Requirements: ATT-SCORE-1, ATT-SCALE-2, ATT-SCALE-3.
    """
    return einsum("...le,...se->...ls", q * scale, k)  # (..., L, S)


def weigh(scores: Tensor) -> Tensor:
    """Return the softmax of the scores over the keys; a row of nothing but -inf gives zeros.

    Shapes:
        scores  (..., L, S)   -inf where a key is hidden
        out     (..., L, S)   rows sum to 1, or to 0 where every key is hidden

    The row's maximum is subtracted first: it cancels, and e^x cannot overflow.

    Requirements: ATT-ROWS-1, ATT-STABLE-1, MASK-ZERO-1, MASK-EMPTY-1 (declares: zeros).
    Source: Vaswani et al. 2017, arXiv:1706.03762v7, section 3.2.1; ONNX Attention operator, opset 24
    (rows without allowed keys).
    """
    empty = torch.isneginf(scores).all(dim=-1, keepdim=True)  # (..., L, 1)
    peak = scores.masked_fill(empty, 0.0).amax(dim=-1, keepdim=True)  # (..., L, 1)
    e = torch.exp(scores - peak)  # (..., L, S)
    return e / e.sum(dim=-1, keepdim=True).masked_fill(empty, 1.0)


def drop(weights: Tensor, probability: float) -> Tensor:
    """Return the weights, each set to 0 with the given probability and else divided by 1 - probability.

    The expectation is the weights themselves. Probability 0 draws nothing, probability 1 leaves nothing.

    Requirements: ATT-DROP-2, ATT-DROP-3.
    Source: tensor2tensor, dot_product_attention; Srivastava et al. 2014, JMLR 15, section 10 (inverted form).
    Deviates: Vaswani et al. 2017, section 5.4, drops what sub-layers give, and has no word on weights.
    """
    if probability == 0.0:
        return weights
    if probability == 1.0:
        return torch.zeros_like(weights)  # not 0/0
    kept = torch.empty_like(weights).bernoulli_(1.0 - probability)
    return weights * kept / (1.0 - probability)


def mix(weights: Tensor, v: Tensor) -> Tensor:
    """Return the weighted sums of the values.

    Shapes:
        weights  (..., L, S)
        v        (..., S, F)
        out      (..., L, F)

    Requirements: ATT-LINEAR-1, CALL-SHAPE-1, CALL-LAYOUT-1.
    """
    return einsum("...ls,...sf->...lf", weights, v)  # (..., L, F)


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    bias: Tensor | None = None,
    scale: float | None = None,
    dropout: float = 0.0,
) -> tuple[Tensor, Tensor]:
    """Return (output, weights): softmax over S of (scale · q kᵀ + bias), masked, times v.

    Shapes:
        q        (..., L, E)
        k        (..., S, E)
        v        (..., S, F)
        mask     broadcastable to (..., L, S), bool, True = may attend
        bias     broadcastable to (..., L, S), float
        output   (..., L, F)
        weights  (..., L, S)   as they multiply v, so after dropout

    ``scale`` None means 1/√E. ``dropout`` is a probability; pass 0 outside training.
    Raises ValueError where q, k and v do not fit, RuntimeError where mask or bias do not.

    Requirements: the whole chapter (ATT-ORACLE-1).
    Source: Vaswani et al. 2017, arXiv:1706.03762v7, section 3.2.1, eq. (1).
    """
    refuse_misfits(q, k, v)
    k, v = blank(k, mask), blank(v, mask)
    scores = score(q, k, default_scale(q) if scale is None else scale)  # (..., L, S)
    weights = drop(weigh(hide(add_bias(scores, bias), mask)), dropout)  # (..., L, S)
    return mix(weights, v), weights  # (..., L, F), (..., L, S)
