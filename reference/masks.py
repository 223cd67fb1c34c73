"""Masks: which query may look at which key. Boolean, True = may attend.

Symbols as in spec/masks.md: B batch, H heads, L queries, S keys.
"""

import torch
from torch import Tensor


def key_padding(key_mask: Tensor) -> Tensor:
    """Return ``key_mask``, one row per sample, in a shape that broadcasts over heads and queries.

    Shapes:
        key_mask  (B, S)         bool, True = a real key, False = padding
        out       (B, 1, 1, S)

    Requirements: MASK-PADDING-1.
    """
    return key_mask[:, None, None, :]  # (B, S) -> (B, 1, 1, S)


def causal(queries: int, keys: int, offset: int = 0) -> Tensor:
    """Return the causal mask: query i may attend to key j if j <= i + offset.

    Shapes:
        out  (L, S)   bool; L = queries, S = keys

    ``offset`` is the number of keys that come before the first query (tokens): 0 aligns the
    first query with the first key (top-left), S - L the last with the last (bottom-right).

    Requirements: MASK-CAUSAL-1, MASK-CAUSAL-2.
    Source: Vaswani et al. 2017, arXiv:1706.03762v7, section 3.2.3; ONNX Attention operator, opset 24.
    """
    i = torch.arange(queries)[:, None]  # (L, 1)
    j = torch.arange(keys)[None, :]  # (1, S)
    return j <= i + offset  # (L, S)


def intersect(first: Tensor | None, second: Tensor | None) -> Tensor | None:
    """Return the mask that allows what both allow; None allows everything.

    Shapes:
        first, second  broadcastable to (..., L, S), bool, or None
        out            what the two broadcast to, or None

    Requirements: MASK-AND-1.
    """
    if first is None:
        return second
    if second is None:
        return first
    return first & second


def add_bias(scores: Tensor, bias: Tensor | None) -> Tensor:
    """Return ``scores + bias``, the bias in units of scaled scores (natural logarithm of odds).

    Shapes:
        scores  (..., L, S)
        bias    broadcastable to (..., L, S), or None

    Requirements: MASK-BIAS-1, MASK-BIAS-2.
    """
    return scores if bias is None else scores + bias.expand_as(scores)


def hide(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Return the scores with minus infinity wherever ``mask`` is False: e^(-inf) is exactly 0.

    Shapes:
        scores  (..., L, S)
        mask    broadcastable to (..., L, S), or None

    Requirements: MASK-BOOL-1, MASK-ZERO-1.
    Source: Vaswani et al. 2017, arXiv:1706.03762v7, section 3.2.3.
    """
    return scores if mask is None else scores.masked_fill(~mask.expand_as(scores), float("-inf"))


def blank(x: Tensor, mask: Tensor | None) -> Tensor:
    """Return keys or values with 0 for NaN and infinity where no query may look: 0·NaN would be NaN.

    Shapes:
        x     (..., S, E) or (..., S, F)
        mask  broadcastable to (..., L, S), or None

    Requirements: MASK-NAN-1.
    """
    if mask is None:
        return x
    hidden = ~torch.atleast_2d(mask).any(dim=-2)  # (..., S)
    return x.masked_fill(hidden[..., None].expand_as(x) & ~x.isfinite(), 0.0)
