"""Masks, made: which key each query may see, from lengths and from ids. Boolean, True = may attend.

Symbols as in spec/mask_making.md: B samples, L queries, S keys.
"""

import torch
from torch import Tensor


def up_to_own(queries: int, keys: int, offset: int = 0) -> Tensor:
    """Return the causal mask: query i may see key j if j <= i + offset.

    Shapes:
        out  (L, S)   bool; L = queries, S = keys

    ``offset``, in tokens, is how many keys stand before the first query's own: 0 (top-left), or S - L (bottom-right).

    Requirements: MAKE-LATER-1, MAKE-SEEN-1, MAKE-ALIGN-1.
    Source: Vaswani et al. 2017, arXiv:1706.03762v7, section 3.2.3.
    """
    i, j = torch.arange(queries)[:, None], torch.arange(keys)
    return j <= i + offset  # (L, S)


def told_by_ids(ids: Tensor, padding_id: int) -> Tensor:
    """Return which tokens are real: those whose id is not that of padding.

    Shapes:
        ids, out  (B, L)   int64, bool

    Requirements: MAKE-PADDING-1, MAKE-ID-1.
    """
    return ids != padding_id


def told_by_lengths(lengths: Tensor, length: int) -> Tensor:
    """Return which of ``length`` tokens are real: those before the end of their row.

    Shapes:
        lengths  (B,)     int64, in tokens
        out      (B, L)   bool; L = length

    Requirements: MAKE-PADDING-1.
    """
    return torch.arange(length, device=lengths.device) < lengths[:, None]  # (B, L)


def as_keys(real: Tensor) -> Tensor:
    """Return the padding mask: whatever the query, it may see the keys that are real.

    Shapes:
        real  (B, L)
        out   (B, L, L)   queries, then keys

    Requirements: MAKE-PADDING-1, MAKE-SEEN-1.
    """
    return real[:, None, :].expand(-1, real.shape[1], -1)  # (B, L) -> (B, 1, L) -> (B, L, L)


def both(first: Tensor, second: Tensor) -> Tensor:
    """Return the mask that allows what both allow: (B, L, L) and (L, L) -> (B, L, L).

    Requirements: MAKE-LATER-1, MAKE-PADDING-1.
    """
    return first & second


def decoder_mask(real: Tensor) -> Tensor:
    """Return the mask of a decoder's self-attention: causal, and without padding.

    Shapes:
        real  (B, L)
        out   (B, L, L)
    """
    length = real.shape[1]
    return both(as_keys(real), up_to_own(length, length).to(real.device))


def as_numbers(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """Return 1 where a query may attend, 0 where it may not: of whatever shape, (B, L, L) say.

    Requirements: MAKE-SEEN-1.
    """
    return mask.to(dtype)
