"""The family of attention: multi-head attention with what was added to it since 2017, each part a small function.

Symbols as in spec/attention_family.md: B batch, L queries, S keys, H heads of queries, K heads of keys and values,
D width of one head.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from attnconf.reference.attention import default_scale, drop, mix, score, weigh
from attnconf.reference.masks import add_bias, blank, hide, intersect
from attnconf.reference.multi_head_attention import (
    merge_heads,
    project_key,
    project_out,
    project_query,
    project_value,
    split_heads,
)


@dataclass(frozen=True)
class Member:
    """One member of the family; the default is that of 2017."""

    kv_heads: int | None = None  # None: as many as queries have
    scale: float | None = None  # None: 1/√D
    softcap: float | None = None
    window: tuple[int | None, int | None] | None = None  # keys seen before and after the query's own


def share_keys(x: Tensor, num_heads: int) -> Tensor:
    """Return the keys for each head of the queries: head h reads keys h // (H/K).

    Shapes:
        x    (B, K, S, D)
        out  (B, H, S, D)

    Raises ValueError if H is not a multiple of K.

    Requirements: FAM-GROUP-1, FAM-GROUP-2.
    Source: Ainslie et al. 2023, arXiv:2305.13245v3, section 2.2; ONNX Attention operator, opset 24.
    """
    return share_heads(x, num_heads)


def share_values(x: Tensor, num_heads: int) -> Tensor:
    """Return the values for each head of the queries, (B, H, S, D), from (B, K, S, D), as ``share_keys`` does.

    Requirements: FAM-GROUP-1, FAM-GROUP-2.
    """
    return share_heads(x, num_heads)


def share_heads(x: Tensor, num_heads: int) -> Tensor:
    """Return each head H/K times, its copies side by side: (B, K, S, D) -> (B, H, S, D).

    Raises ValueError if H is not a multiple of K.
    """
    if num_heads % x.shape[1]:
        raise ValueError(f"{num_heads} heads cannot share {x.shape[1]} heads of keys and values evenly")
    return x.repeat_interleave(num_heads // x.shape[1], dim=1)  # 0 0 0 1 1 1, not 0 1 0 1 0 1


def cap(scores: Tensor, softcap: float | None) -> Tensor:
    """Return c·tanh(s/c), which is s near 0 and never beyond ±c; the scores as they are for None.

    Shapes:
        scores, out  (..., L, S)

    Requirements: FAM-CAP-1, FAM-CAP-2.
    Source: Gemma 2 (arXiv:2408.00118v3), section 2; ONNX Attention operator, opset 24.
    """
    return scores if softcap is None else softcap * torch.tanh(scores / softcap)


def within(queries: int, keys: int, window: tuple[int | None, int | None] | None) -> Tensor | None:
    """Return which keys lie in the window of each query: i - left <= j <= i + right; None allows everything.

    Shapes:
        out  (L, S)   bool; L = queries, S = keys

    A side that is None has no end. Query i stands where key i does: top-left, as causal masks do.

    Requirements: FAM-WINDOW-1, FAM-WINDOW-2.
    Source: Beltagy et al. 2020, arXiv:2004.05150v2, section 3.1; FlashAttention's ``window_size``.
    """
    if window is None:
        return None
    left, right = (math.inf if side is None else side for side in window)
    distance = torch.arange(keys)[None, :] - torch.arange(queries)[:, None]  # (L, S), j - i
    return (distance >= -left) & (distance <= right)


def family_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    weights: Mapping[str, Tensor],
    num_heads: int,
    member: Member,
    mask: Tensor | None = None,
    bias: Tensor | None = None,
    dropout: float = 0.0,
) -> tuple[Tensor, Tensor]:
    """Return (output, attention weights) of one member of the family.

    Shapes:
        query    (B, L, E)
        key      (B, S, Ek)
        value    (B, S, Ev)
        weights  q.weight (H·D, E), k.weight (K·D, Ek), v.weight (K·D, Ev), out.weight (O, H·D),
                 and, or not at all, q.bias (H·D,), k.bias, v.bias (K·D,), out.bias (O,)
        mask     broadcastable to (B, H, L, S), bool, True = may attend
        bias     broadcastable to (B, H, L, S), float
        output   (B, L, O)
        attention weights (B, H, L, S)

    With the default member this is ``multi_head_attention``.

    Raises ValueError or RuntimeError where the shapes do not fit.

    Requirements: the whole chapter (FAM-ORACLE-1).
    Source: spec/attention_family.md.
    """
    kv_heads = num_heads if member.kv_heads is None else member.kv_heads
    q = split_heads(project_query(query, weights), num_heads)  # (B, H, L, D)
    k = share_keys(split_heads(project_key(key, weights), kv_heads), num_heads)  # (B, H, S, D)
    v = share_values(split_heads(project_value(value, weights), kv_heads), num_heads)  # (B, H, S, D)
    near = within(query.shape[1], key.shape[1], member.window)  # (L, S)
    seen = intersect(mask, near if near is None else near.to(query.device))
    k, v = blank(k, seen), blank(v, seen)
    scores = cap(score(q, k, default_scale(q) if member.scale is None else member.scale), member.softcap)
    attention = drop(weigh(hide(add_bias(scores, bias), seen)), dropout)  # (B, H, L, S)
    return project_out(merge_heads(mix(attention, v)), weights), attention  # (B, L, O), (B, H, L, S)
