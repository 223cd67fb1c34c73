"""ALiBi: a penalty on the scores, linear in the distance, with a slope of its own for every head.

Symbols as in spec/alibi.md: H heads, L queries, S keys, m_h slope of head h, per token.
"""

import torch
from torch import Tensor, einsum

from attnconf.reference.attention import attend
from attnconf.reference.masks import causal as causal_mask


def geometric(heads: int) -> Tensor:
    """Return m_h = 2^(-8h/H) for h = 1, …, H: (H,), float64, in units of the scaled scores per token.

    Requirements: ALIBI-SLOPE-1, ALIBI-HEAD-1.
    Source: Press et al. 2021, arXiv:2108.12409v2, section 3.
    """
    return 2.0 ** (-8.0 * torch.arange(1, heads + 1, dtype=torch.float64) / heads)


def slopes(heads: int) -> Tensor:
    """Return the slopes for any number of heads: those of the power of two below, then every other of twice as many.

    Shapes:
        out  (H,)   float64

    Raises ValueError where there are no heads.

    Requirements: ALIBI-SLOPE-2 (declares: published).
    Source: Press et al. 2021, the published code (fairseq/models/transformer.py, get_slopes).
    """
    below = 1 << (heads.bit_length() - 1)
    return torch.cat([geometric(below), geometric(2 * below)[0::2][: heads - below]])  # (H,)


def distances(queries: int, keys: int) -> Tensor:
    """Return how far key j is from query i, |i + S - L - j|, in tokens: the last query stands at the last key.

    Shapes:
        out  (L, S)   float64

    Requirements: ALIBI-DISTANCE-1, ALIBI-LINEAR-1, ALIBI-ALIGN-1, ALIBI-BOTH-1.
    Source: Press et al. 2021, section 3, for L = S and earlier keys.
    """
    i, j = torch.arange(queries, dtype=torch.float64), torch.arange(keys, dtype=torch.float64)
    return (i[:, None] + (keys - queries) - j).abs()  # (L, S)


def bias(heads: int, queries: int, keys: int) -> Tensor:
    """Return what is added to the scaled scores, -m_h · distance.

    Shapes:
        out  (H, L, S)   float64, ≤ 0; cast it only when it is whole

    Requirements: CALL-SHAPE-1, ALIBI-SIGN-1, ALIBI-LONG-1, ALIBI-HALF-1, CALL-REPEAT-1.
    """
    return -einsum("h,ls->hls", slopes(heads), distances(queries, keys))  # (H, L, S)


def alibi_attention(q: Tensor, k: Tensor, v: Tensor, causal: bool = True) -> Tensor:
    """Return softmax(q kᵀ / √E + bias) v, of the keys up to each query's own if ``causal``.

    Shapes:
        q, k, v, out  (B, H, L, E)

    Raises ValueError where q, k and v do not fit together.

    Requirements: ALIBI-ADD-1, ALIBI-SCALE-1, ALIBI-WIDTH-1, ALIBI-SAMPLE-1, ALIBI-CAUSAL-1, CALL-DTYPE-1.
    Source: Press et al. 2021, arXiv:2108.12409v2, section 3.
    """
    L, S = q.shape[-2], k.shape[-2]
    mask = causal_mask(L, S).to(q.device) if causal else None
    return attend(q, k, v, mask, bias(q.shape[1], L, S).to(q))[0]
