"""The family of attention: multi-head attention with what was added to it since 2017, each part a small function.

Symbols as in spec/attention_family.md: B batch, L queries, S keys, H heads of queries, K heads of keys and values,
D width of one head.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from attnconf.reference import alibi, relative_bias
from attnconf.reference.attention import default_scale, drop, mix, refuse_misfits, score, weigh
from attnconf.reference.layer_norm import layer_norm
from attnconf.reference.masks import add_bias, blank, hide, intersect
from attnconf.reference.multi_head_attention import (
    merge_heads,
    project_key,
    project_out,
    project_query,
    project_value,
    split_heads,
)
from attnconf.reference.rms_norm import rms_norm
from attnconf.reference.rotary import frequencies, rotate

Weights = Mapping[str, Tensor]


@dataclass(frozen=True)
class Member:
    """One member of the family; the default is that of 2017. Entries as in contract.MultiHeadAttentionConfig."""

    num_kv_heads: int | None = None  # None: as many as queries have
    scale: float | None = None  # None: 1/√D
    softcap: float | None = None
    window: tuple[int | None, int | None] | None = None  # keys seen before and after the query's own
    positions: str = "none"  # none, rotary, alibi, relative-bias, shaw
    base: float = 10000.0
    rotary_dim: int | None = None  # features of each head that turn; None: all
    both_ways: bool = True  # relative biases: later keys have buckets of their own
    relative_values: str = "no"  # no, yes: vectors of offsets are added to the values, too
    qk_norm: str = "none"  # none, rms, layer
    qk_norm_over: str = "head"  # head, width
    qk_norm_place: str = "before"  # before, after: the rotation
    qk_norm_eps: float = 1e-6
    sinks: str = "none"  # none, learned, add-one
    gate: str = "none"  # none, features, heads


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


def prepare(scores: Tensor, softcap: float | None, biases: tuple[Tensor | None, ...], seen: Tensor | None) -> Tensor:
    """Return the scores capped, then biased, then hidden where a key may not be seen: (..., L, S).

    Requirements: FAM-CAP-2, FAM-CAP-3.
    Source: ONNX Attention operator, opset 24.
    """
    scores = cap(scores, softcap)
    for bias in biases:
        scores = add_bias(scores, bias)
    return hide(scores, seen)


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


# -- norms of queries and keys


def normalize(x: Tensor, weights: Weights, name: str, kind: str, eps: float) -> Tensor:
    """Return queries or keys normalized over their last axis, times a gain; as they are for "none".

    Shapes:
        x, out   (..., W)
        weights  <name>.weight (W,), and of "layer" <name>.bias (W,)

    Requirements: FAM-NORM-1, FAM-NORM-2.
    Source: Henry et al. 2020, arXiv:2010.04245v1 (a norm of queries and keys); Dehghani et al. 2023,
    arXiv:2302.05442v1, section 2 (layer norm); OLMo 2 and Qwen3, published code (RMS norm, of the width, of each head).
    """
    if kind == "none":
        return x
    gain = weights[f"{name}.weight"]
    if kind == "rms":
        return rms_norm(x, gain, eps)
    return layer_norm(x, tuple(gain.shape), gain, weights[f"{name}.bias"], eps)


def normalize_width(x: Tensor, weights: Weights, name: str, member: Member) -> Tensor:
    """Return queries or keys, (B, T, W), normalized over all heads together, where the member does so.

    Requirements: FAM-NORM-3.
    """
    return normalize(x, weights, name, member.qk_norm if member.qk_norm_over == "width" else "none", member.qk_norm_eps)


def normalize_heads(x: Tensor, weights: Weights, name: str, member: Member) -> Tensor:
    """Return queries or keys, (B, H, T, D), each head normalized by itself, where the member does so.

    Requirements: FAM-NORM-3.
    """
    return normalize(x, weights, name, member.qk_norm if member.qk_norm_over == "head" else "none", member.qk_norm_eps)


def normalize_and_place(x: Tensor, weights: Weights, name: str, member: Member) -> Tensor:
    """Return queries or keys, (B, H, T, D), normalized and turned by their positions, in the member's order.

    Requirements: FAM-NORM-4.
    """
    if member.qk_norm_place == "before":
        return place(normalize_heads(x, weights, name, member), member)
    return normalize_heads(place(x, member), weights, name, member)


# -- positions


def place(x: Tensor, member: Member) -> Tensor:
    """Return queries or keys, (B, H, T, D), turned by their positions 0, 1, …; as they are without rotation.

    Of each head the first ``rotary_dim`` features turn, as those of a head of that width do.

    Requirements: FAM-ROTARY-1, FAM-ROTARY-2, FAM-ROTARY-3, ENC-TURN-1.
    Source: spec/rotary.md.
    """
    if member.positions != "rotary":
        return x
    width = x.shape[-1] if member.rotary_dim is None else member.rotary_dim
    return rotate(x, None, frequencies(width, member.base), width)


def position_bias(queries: int, keys: int, heads: int, weights: Weights, member: Member) -> Tensor | None:
    """Return what is added to the scores for the distances of keys, (H, L, S); None where nothing is.

    Requirements: FAM-SLOPE-1, FAM-RELATIVE-1.
    Source: spec/alibi.md, spec/relative_bias.md.
    """
    if member.positions == "alibi":
        return alibi.bias(heads, queries, keys)
    if member.positions == "relative-bias":
        return relative_bias.bias(weights["relative.weight"], queries, keys, bidirectional=member.both_ways)
    return None


# -- vectors of offsets


def offset_rows(queries: int, keys: int, farthest: int, begin: int = 0) -> Tensor:
    """Return which row of a table of offsets each query and key read: that of key minus query, -k … k, in order.

    Shapes:
        out  (L, S)   int64, 0 … 2k; L = queries, which stand at begin, begin + 1, …; S = keys; k = farthest

    Requirements: FAM-SHAW-1, FAM-SHAW-2.
    Source: Shaw et al. 2018, arXiv:1803.02155v2, section 3.2; tensor2tensor, _generate_relative_positions_matrix.
    """
    offset = torch.arange(keys) - (begin + torch.arange(queries))[:, None]  # (S,) - (L, 1) -> (L, S)
    return offset.clamp(-farthest, farthest) + farthest


def offset_vectors(table: Tensor, queries: int, keys: int, begin: int = 0) -> Tensor:
    """Return the vector of each query and key: a table (2k + 1, D) -> (L, S, D).

    Requirements: FAM-SHAW-1, FAM-SHAW-3.
    """
    return table[offset_rows(queries, keys, len(table) // 2, begin).to(table.device)]


def score_with_offsets(
    q: Tensor, k: Tensor, scale: float, weights: Weights, member: Member, begin: int = 0
) -> Tensor:  # fmt: skip
    """Return the scores scale · q·(k + a), where a is the vector of the offset; without one, those of q and k.

    Shapes:
        q        (B, H, L, D)
        k        (B, H, S, D)
        weights  relative_keys.weight (2k + 1, D), the same for all heads
        out      (B, H, L, S)

    Requirements: FAM-SHAW-1, FAM-SHAW-2.
    Source: Shaw et al. 2018, arXiv:1803.02155v2, eq. (4), computed as eq. (5) has it.
    """
    scores = score(q, k, scale)
    if member.positions != "shaw":
        return scores
    a = offset_vectors(weights["relative_keys.weight"], q.shape[2], k.shape[2], begin)  # (L, S, D)
    return scores + torch.einsum("bhld,lsd->bhls", scale * q, a)


def mix_with_offsets(attention: Tensor, v: Tensor, weights: Weights, member: Member, begin: int = 0) -> Tensor:
    """Return Σ_s A_ls (v_s + a_ls), where a is the vector of the offset; without one, the weighted sum of values.

    Shapes:
        attention  (B, H, L, S)
        v          (B, H, S, D)
        weights    relative_values.weight (2k + 1, D), the same for all heads
        out        (B, H, L, D)

    Requirements: FAM-SHAW-2, FAM-SHAW-3.
    Source: Shaw et al. 2018, arXiv:1803.02155v2, eq. (3).
    """
    mixed = mix(attention, v)
    if member.positions != "shaw" or member.relative_values == "no":
        return mixed
    a = offset_vectors(weights["relative_values.weight"], attention.shape[2], attention.shape[3], begin)  # (L, S, D)
    return mixed + torch.einsum("bhls,lsd->bhld", attention, a)


# -- sinks and gates


def weigh_beside(scores: Tensor, sinks: Tensor | None) -> Tensor:
    """Return the softmax of the scores and of a sink beside them, which takes weight and gives no value.

    Shapes:
        scores  (B, H, L, S)
        sinks   (H,) or None   None: the softmax of the scores alone
        out     (B, H, L, S)

    Requirements: FAM-SINK-1, FAM-SINK-2.
    Source: gpt-oss, published code (a learned logit for each head); Miller 2023, "Attention is off by one" (logit 0).
    """
    if sinks is None:
        return weigh(scores)
    beside = sinks.to(scores)[:, None, None].expand(*scores.shape[:-1], 1)  # (B, H, L, 1)
    return weigh(torch.cat([scores, beside], dim=-1))[..., :-1]


def sinks_of(member: Member, weights: Weights, heads: int) -> Tensor | None:
    """Return the logits of the sinks, (H,): learned, 0, or none."""
    if member.sinks == "none":
        return None
    return weights["sinks"] if member.sinks == "learned" else torch.zeros(heads)


def let_through(context: Tensor, query: Tensor, weights: Weights, member: Member, heads: int) -> Tensor:
    """Return the merged heads times the sigmoid of a projection of the query: of each feature, or of each head.

    Shapes:
        context, out  (B, L, H·D)
        query         (B, L, E)
        weights       gate.weight (H·D, E), or (H, E) of "heads"

    Requirements: FAM-GATE-1, FAM-GATE-2.
    Source: Qiu et al. 2025, arXiv:2505.06708v1, section 2.2, and Qwen3-Next, published code.
    """
    if member.gate == "none":
        return context
    gate = torch.sigmoid(query @ weights["gate.weight"].T)  # (B, L, H·D) or (B, L, H)
    if member.gate == "heads":
        gate = gate.repeat_interleave(context.shape[-1] // heads, dim=-1)  # (B, L, H·D)
    return context * gate


# -- all of it


def heads(
    query: Tensor, key: Tensor, value: Tensor, weights: Weights, num_heads: int, member: Member
) -> tuple[Tensor, Tensor, Tensor]:
    """Return queries, keys and values of all heads: projected, normalized, placed and shared.

    Shapes:
        query, key, value  (B, L, E), (B, S, Ek), (B, S, Ev)
        out                (B, H, L, D), (B, H, S, D), (B, H, S, D)
    """
    kv_heads = num_heads if member.num_kv_heads is None else member.num_kv_heads
    q = split_heads(normalize_width(project_query(query, weights), weights, "q_norm", member), num_heads)
    k = split_heads(normalize_width(project_key(key, weights), weights, "k_norm", member), kv_heads)
    q = normalize_and_place(q, weights, "q_norm", member)  # (B, H, L, D)
    k = share_keys(normalize_and_place(k, weights, "k_norm", member), num_heads)  # (B, H, S, D)
    v = share_values(split_heads(project_value(value, weights), kv_heads), num_heads)  # (B, H, S, D)
    return q, k, v


def family_attention(
    query: Tensor, key: Tensor, value: Tensor, weights: Mapping[str, Tensor], num_heads: int, member: Member,
    mask: Tensor | None = None, bias: Tensor | None = None, dropout: float = 0.0,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return (output, attention weights) of one member of the family.

    Shapes:
        query    (B, L, E)
        key      (B, S, Ek)
        value    (B, S, Ev)
        weights  q.weight (H·D, E), k.weight (K·D, Ek), v.weight (K·D, Ev), out.weight (O, H·D),
                 and, or not at all, q.bias (H·D,), k.bias, v.bias (K·D,), out.bias (O,); those of the parts above
        mask     broadcastable to (B, H, L, S), bool, True = may attend
        bias     broadcastable to (B, H, L, S), float
        output   (B, L, O)
        attention weights (B, H, L, S)

    With the default member this is ``multi_head_attention``.

    Raises ValueError or RuntimeError where the shapes do not fit.

    Requirements: the whole chapter (FAM-ORACLE-1).
    Source: spec/attention_family.md.
    """
    q, k, v = heads(query, key, value, weights, num_heads, member)  # (B, H, L, D), (B, H, S, D), (B, H, S, D)
    refuse_misfits(q, k, v)
    L, S = query.shape[1], key.shape[1]
    seen = intersect(mask, on(query, within(L, S, member.window)))  # (..., L, S)
    k, v = blank(k, seen), blank(v, seen)
    scale = default_scale(q) if member.scale is None else member.scale
    scores = score_with_offsets(q, k, scale, weights, member)  # (B, H, L, S)
    biases = (on(scores, position_bias(L, S, num_heads, weights, member)), bias)
    scores = prepare(scores, member.softcap, biases, seen)
    attention = drop(weigh_beside(scores, sinks_of(member, weights, num_heads)), dropout)  # (B, H, L, S)
    context = merge_heads(mix_with_offsets(attention, v, weights, member))  # (B, L, H·D)
    context = let_through(context, query, weights, member, num_heads)
    return project_out(context, weights), attention  # (B, L, O), (B, H, L, S)


def on(like: Tensor, x: Tensor | None) -> Tensor | None:
    """Return x (..., L, S) on the device of another tensor, and numbers in its dtype; None stays None."""
    return x if x is None else x.to(like.device) if x.dtype == torch.bool else x.to(like)
