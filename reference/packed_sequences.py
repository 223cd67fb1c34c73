"""Packed sequences: several documents in one row, none of which sees another.

Symbols as in spec/packed_sequences.md: B batch, L tokens of a row, H heads of queries, K of keys and values, D width.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from attnconf.reference.attention import default_scale
from attnconf.reference.attention_family import (
    Member,
    let_through,
    mix_with_offsets,
    on,
    position_bias,
    prepare,
    score_with_offsets,
    share_keys,
    share_values,
    sinks_of,
    weigh_beside,
    within,
)
from attnconf.reference.kv_cache import new_keys, new_queries
from attnconf.reference.masks import causal as causal_mask
from attnconf.reference.masks import intersect
from attnconf.reference.multi_head_attention import merge_heads, project_out, project_value, split_heads


def documents_between(bounds: Tensor, length: int) -> Tensor:
    """Return which document each token belongs to, (1, L), from bounds (n + 1,).

    Document d has the tokens bounds[d] … bounds[d + 1] - 1.

    Requirements: PACK-BOUNDS-1.
    Source: FlashAttention's ``cu_seqlens``, which begins with 0 and ends with L.
    """
    return torch.bucketize(torch.arange(length, device=bounds.device), bounds[1:], right=True)[None]


def same_document(segments: Tensor) -> Tensor:
    """Return which tokens belong to one document: (B, L) -> (B, 1, L, L).

    Requirements: PACK-OTHER-1, PACK-ID-1, PACK-ROW-1.
    Source: Raffel et al. 2020, arXiv:1910.10683v4, section 3.1.1 (packing); Krell et al. 2021, arXiv:2107.02027v2.
    """
    return (segments[:, :, None] == segments[:, None, :])[:, None]


def places(segments: Tensor) -> Tensor:
    """Return the place of each token in its document, 0, 1, …: (B, L) -> (B, L).

    Requirements: PACK-ROTARY-1.
    """
    count = torch.arange(segments.shape[1], device=segments.device)
    begins = torch.ones_like(segments, dtype=torch.bool)
    begins[:, 1:] = segments[:, 1:] != segments[:, :-1]
    return count - torch.where(begins, count, 0).cummax(dim=1).values


def packed_attention(
    x: Tensor, segments: Tensor, weights: Mapping[str, Tensor], num_heads: int, member: Member, causal: bool = True
) -> Tensor:
    """Return self-attention within each document.

    Shapes:
        x         (B, L, E)
        segments  (B, L)      int64, equal for tokens of one document, which stand side by side
        out       (B, L, O)

    Requirements: PACK-APART-1, PACK-GRAD-1, and the whole chapter (PACK-ORACLE-1).
    Source: spec/packed_sequences.md; Krell et al. 2021, arXiv:2107.02027v2, section 3.2.
    """
    L, kept = x.shape[1], num_heads if member.num_kv_heads is None else member.num_kv_heads
    where = places(segments)
    q = new_queries(x, weights, num_heads, member, where)  # (B, H, L, D)
    k = share_keys(new_keys(x, weights, kept, member, where), num_heads)
    v = share_values(split_heads(project_value(x, weights), kept), num_heads)
    seen = intersect(same_document(segments), on(x, within(L, L, member.window)))  # (B, 1, L, L)
    seen = intersect(seen, on(x, causal_mask(L, L) if causal else None))
    scale = default_scale(q) if member.scale is None else member.scale
    # distances within a document are those within the row
    scores = score_with_offsets(q, k, scale, weights, member)  # (B, H, L, L)
    scores = prepare(scores, member.softcap, (on(scores, position_bias(L, L, num_heads, weights, member)),), seen)
    attention = weigh_beside(scores, sinks_of(member, weights, num_heads))
    context = merge_heads(mix_with_offsets(attention, v, weights, member))
    return project_out(let_through(context, x, weights, member, num_heads), weights)
