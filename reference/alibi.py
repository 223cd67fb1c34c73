"""ALiBi: a penalty on the scores, linear in the distance, with a slope of its own for every head.

Symbols as in spec/alibi.md: H heads, L queries, S keys, m_h slope of head h, per token.
"""

import torch
from torch import Tensor, einsum

from attnconf.reference.attention import attend
from attnconf.reference.masks import causal as causal_mask


def geometric(heads: int) -> Tensor:
    """Return m_h = 2^(-8h/H) for h = 1, …, H, float64.

    Source: Press et al. 2021, arXiv:2108.12409v2, section 3.
    """
    return 2.0 ** (-8.0 * torch.arange(1, heads + 1, dtype=torch.float64) / heads)


def slopes(heads: int) -> Tensor:
    """Return the slopes for any number of heads: those of the power of two below, then every other of twice as many.

    Source: Press et al. 2021, the published code (fairseq/models/transformer.py, get_slopes).
    """
    below = 1 << (heads.bit_length() - 1)
    return torch.cat([geometric(below), geometric(2 * below)[0::2][: heads - below]])


def distances(queries: int, keys: int) -> Tensor:
    """Return how far key j is from query i, |i + S - L - j|, float64: the last query stands at the last key."""
    i, j = torch.arange(queries, dtype=torch.float64), torch.arange(keys, dtype=torch.float64)
    return (i[:, None] + (keys - queries) - j).abs()


def bias(heads: int, queries: int, keys: int) -> Tensor:
    """Return -m_h · distance, (H, L, S), float64."""
    return -einsum("h,ls->hls", slopes(heads), distances(queries, keys))


def alibi_attention(q: Tensor, k: Tensor, v: Tensor, causal: bool = True) -> Tensor:
    """Return attention with the bias added to the scaled scores: q, k, v and out (B, H, L, E)."""
    L, S = q.shape[-2], k.shape[-2]
    mask = causal_mask(L, S).to(q.device) if causal else None
    return attend(q, k, v, mask, bias(q.shape[1], L, S).to(q))[0]
