"""T5's relative bias: a learned number for every head and every bucket of distances.

Symbols as in spec/relative_bias.md: H heads, L queries, S keys, N buckets; relative position = key - query, in tokens.
"""

import math

import torch
from torch import Tensor

from attnconf.reference.attention import attend
from attnconf.reference.masks import causal as causal_mask


def relative(queries: int, keys: int) -> Tensor:
    """Return key - query, in tokens, both counted from 0.

    Shapes:
        out  (L, S)   int64

    Requirements: REL-RELATIVE-1, REL-ALIGN-1.
    """
    return torch.arange(keys) - torch.arange(queries)[:, None]  # (S,) - (L, 1) -> (L, S)


def bucket_of_distance(distance: Tensor, buckets: int, max_distance: int) -> Tensor:
    """Return the bucket of each distance: near ones have their own, further ones share by the logarithm.

    Shapes:
        distance  (...)  int64, ≥ 0, in tokens
        out       (...)  int64, 0 … buckets - 1; all from max_distance on share the last

    Raises ValueError where no bucket is exact, or max_distance is among the exact ones.

    Requirements: REL-EXACT-1, REL-LOG-1, REL-LAST-1, REL-SIZES-1, REL-HALF-1.
    Source: Raffel et al. 2020, arXiv:1910.10683v4, section 2.1, and its published code.
    """
    exact = buckets // 2
    if not 0 < exact < max_distance:
        raise ValueError(f"{exact} of {buckets} buckets would be exact, with {max_distance} as the largest distance")
    far = distance.clamp(min=1).double()
    step = torch.log(far / exact) / math.log(max_distance / exact) * (buckets - exact)
    return torch.where(distance < exact, distance, (exact + step.long()).clamp(max=buckets - 1))


def bucket(relative_position: Tensor, buckets: int, max_distance: int, bidirectional: bool) -> Tensor:
    """Return the bucket of every relative position: later keys have the upper half, or, in one direction, bucket 0.

    Shapes:
        relative_position  (...)  int64, key - query, in tokens
        out                (...)  int64, 0 … buckets - 1

    Requirements: REL-SIGN-1, REL-ONE-1.
    Source: Raffel et al. 2020, the published code (mesh-tensorflow, _relative_position_bucket).
    """
    if not bidirectional:
        return bucket_of_distance((-relative_position).clamp(min=0), buckets, max_distance)
    half = buckets // 2
    return half * (relative_position > 0) + bucket_of_distance(relative_position.abs(), half, max_distance)


def look_up(table: Tensor, buckets: Tensor) -> Tensor:
    """Return the heads' biases.

    Shapes:
        table    (N, H)      one column for each head
        buckets  (L, S)      int64
        out      (H, L, S)   in the table's dtype

    Requirements: REL-ENTRY-1, REL-HEAD-1, REL-GRAD-1, CALL-DTYPE-1, CALL-SHAPE-1.
    """
    return table[buckets.to(table.device)].permute(2, 0, 1)  # (L, S, H) -> (H, L, S)


def bias(table: Tensor, queries: int, keys: int, max_distance: int = 128, bidirectional: bool = True) -> Tensor:
    """Return the bias that is added to the scores.

    Shapes:
        table  (N, H)
        out    (H, L, S)

    Requirements: the first two sections of the chapter.
    """
    return look_up(table, bucket(relative(queries, keys), len(table), max_distance, bidirectional))


def relative_bias_attention(
    q: Tensor, k: Tensor, v: Tensor, table: Tensor | None, max_distance: int = 128, causal: bool = False
) -> Tensor:
    """Return T5's attention: scores q·k without a scale, plus the bias; without one where keys have no positions.

    Shapes:
        q, out  (B, H, L, E)
        k, v    (B, H, S, E)
        table   (N, H), or None in cross-attention

    Raises ValueError where the table has not one column for each head, or q, k and v do not fit together.

    Requirements: REL-ADD-1, REL-SCALE-1 (declares: none), REL-SAMPLE-1, REL-CAUSAL-1, REL-CROSS-1.
    Source: Raffel et al. 2020, arXiv:1910.10683v4, section 2.1, and its published code (no scale).
    """
    if table is not None and table.shape[1] != q.shape[1]:
        raise ValueError(f"the table is for {table.shape[1]} heads, the queries have {q.shape[1]}")
    L, S = q.shape[-2], k.shape[-2]
    mask = causal_mask(L, S).to(q.device) if causal else None
    added = None if table is None else bias(table, L, S, max_distance, not causal)
    return attend(q, k, v, mask, added, scale=1.0)[0]
