"""Attention step by step: keys and values of earlier tokens are kept, and not computed again.

Symbols as in spec/kv_cache.md: B batch, T new tokens, S tokens so far (the new ones among them), H heads of queries,
K heads of keys and values, D width of one head.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from attnconf.reference import alibi, relative_bias
from attnconf.reference.attention import default_scale
from attnconf.reference.attention_family import (
    Member,
    let_through,
    mix_with_offsets,
    normalize_heads,
    normalize_width,
    on,
    prepare,
    score_with_offsets,
    share_keys,
    share_values,
    sinks_of,
    weigh_beside,
)
from attnconf.reference.masks import blank, causal
from attnconf.reference.multi_head_attention import (
    merge_heads,
    project_key,
    project_out,
    project_query,
    project_value,
    split_heads,
)
from attnconf.reference.rotary import frequencies, rotate

Weights = Mapping[str, Tensor]


@dataclass(frozen=True)
class Cache:
    """What is kept of S tokens."""

    keys: Tensor  # (B, K, S, D), normalized and turned, as they meet queries
    values: Tensor  # (B, K, S, D)
    real: Tensor  # (B, S), bool, False = padding


def empty(batch: int, weights: Weights, num_heads: int, member: Member) -> Cache:
    """Return the cache of no tokens.

    Requirements: CACHE-FRESH-1.
    """
    heads = num_heads if member.num_kv_heads is None else member.num_kv_heads
    of_keys, of_values = weights["k.weight"], weights["v.weight"]
    keys = of_keys.new_zeros(batch, heads, 0, len(of_keys) // heads)
    values = of_values.new_zeros(batch, heads, 0, len(of_values) // heads)
    return Cache(keys, values, torch.ones(batch, 0, dtype=torch.bool, device=keys.device))


# -- new tokens


def next_places(cache: Cache, x: Tensor) -> Tensor:
    """Return the places of new tokens x (B, T, E), (T,): they go on where the cache ends.

    Requirements: CACHE-ROTARY-1.
    """
    return cache.keys.shape[2] + torch.arange(x.shape[1], device=x.device)


def turn_at(x: Tensor, positions: Tensor, member: Member) -> Tensor:
    """Return queries or keys (B, H, T, D) turned by positions (T,) or (B, T); as they are without rotation.

    Requirements: CACHE-ROTARY-1, CACHE-POS-1.
    """
    if member.positions != "rotary":
        return x
    return rotate(x, positions, frequencies(x.shape[-1], member.base), x.shape[-1])


def normalize_and_turn(x: Tensor, weights: Weights, name: str, positions: Tensor, member: Member) -> Tensor:
    """Return queries or keys (B, H, T, D) normalized and turned, in the member's order.

    Requirements: CACHE-NORM-1.
    """
    if member.qk_norm_place == "before":
        return turn_at(normalize_heads(x, weights, name, member), positions, member)
    return normalize_heads(turn_at(x, positions, member), weights, name, member)


def new_queries(x: Tensor, weights: Weights, num_heads: int, member: Member, positions: Tensor) -> Tensor:
    """Return the queries of new tokens x (B, T, E): (B, H, T, D)."""
    q = split_heads(normalize_width(project_query(x, weights), weights, "q_norm", member), num_heads)
    return normalize_and_turn(q, weights, "q_norm", positions, member)


def new_keys(x: Tensor, weights: Weights, num_heads: int, member: Member, positions: Tensor) -> Tensor:
    """Return the keys of new tokens x (B, T, E): (B, K, T, D)."""
    k = split_heads(normalize_width(project_key(x, weights), weights, "k_norm", member), num_heads)
    return normalize_and_turn(k, weights, "k_norm", positions, member)


# -- the cache


def append(old: Tensor, new: Tensor) -> Tensor:
    """Return old and new keys or values, (B, K, S, D), one after the other along the axis of tokens.

    Requirements: CACHE-DECODE-1, CACHE-KEEP-1, CACHE-GRAD-1.
    """
    return torch.cat([old, new], dim=2)


def append_real(old: Tensor, new: Tensor) -> Tensor:
    """Return which of old and new tokens are real, (B, S).

    Requirements: CACHE-LEFT-1, CACHE-RIGHT-1.
    """
    return torch.cat([old, new], dim=1)


def extend(cache: Cache, keys: Tensor, values: Tensor, real: Tensor) -> Cache:
    """Return the cache with the keys and values of new tokens behind those it has; the old cache stays as it is.

    Shapes:
        keys, values  (B, K, L, D)
        real          (B, L)   bool, True = a token
    """
    return Cache(append(cache.keys, keys), append(cache.values, values), append_real(cache.real, real))


def pick(kept: Tensor, order: Tensor) -> Tensor:
    """Return what is kept of the samples ``order``, int64: sample b of what comes is sample order[b].

    Shapes:
        kept   (B, ...)
        order  (b,)   as many as go on
        out    (b, ...)

    Requirements: CACHE-ORDER-1.
    """
    return kept.index_select(0, order)


def reorder(cache: Cache, order: Tensor) -> Cache:
    """Return the cache of the samples ``order``, (b,): for beams, of which some end and others go on twice."""
    return Cache(pick(cache.keys, order), pick(cache.values, order), pick(cache.real, order))


def poison(cache: Cache) -> Cache:
    """Return the cache with NaN for what nobody may read: here keys and values of padding.

    Requirements: CACHE-POISON-1.
    """
    hidden = ~cache.real[:, None, :, None]  # (B, 1, S, 1)
    fill = float("nan")
    return Cache(cache.keys.masked_fill(hidden, fill), cache.values.masked_fill(hidden, fill), cache.real)


# -- who sees whom


def earlier(new: int, total: int) -> Tensor:
    """Return which keys are not later than each new query: (T, S), the last query at the last key.

    Requirements: CACHE-CAUSAL-1, CACHE-CHUNK-1.
    """
    return causal(new, total, total - new)


def near(new: int, total: int, left: int | None) -> Tensor:
    """Return which keys are at most ``left`` before each new query: (T, S); None allows all.

    Requirements: CACHE-WINDOW-1.
    """
    if left is None:
        return torch.ones(new, total, dtype=torch.bool)
    return ~causal(new, total, total - new - left - 1)


def seen(cache: Cache, new: int, member: Member) -> Tensor:
    """Return which tokens of the cache each of the last ``new`` may look at: (B, 1, T, S)."""
    total = cache.keys.shape[2]
    left = None if member.window is None else member.window[0]
    places = (earlier(new, total) & near(new, total, left)).to(cache.real.device)  # (T, S)
    return (places & cache.real[:, None, :])[:, None]


def slope_bias(heads: int, new: int, total: int) -> Tensor:
    """Return ALiBi's bias of the last ``new`` queries, (H, T, S).

    Requirements: CACHE-SLOPE-1.
    """
    return alibi.bias(heads, new, total)  # its last query stands at the last key


def bucket_bias(table: Tensor, new: int, total: int) -> Tensor:
    """Return the relative bias of the last ``new`` queries, (H, T, S), with all buckets for earlier keys.

    Requirements: CACHE-RELATIVE-1.
    """
    return relative_bias.bias(table, total, total, bidirectional=False)[:, total - new :]


def bias_of(new: int, total: int, heads: int, weights: Weights, member: Member) -> Tensor | None:
    """Return what is added to the scores for distances, (H, T, S); None where nothing is."""
    if member.positions == "alibi":
        return slope_bias(heads, new, total)
    if member.positions == "relative-bias":
        return bucket_bias(weights["relative.weight"], new, total)
    return None


# -- all of it


def attend_to(cache: Cache, q: Tensor, weights: Weights, member: Member) -> Tensor:
    """Return what the last T tokens make of a cache that has them: queries (B, H, T, D) -> (B, T, H·D).

    Requirements: CACHE-CAP-1, CACHE-SINK-1, CACHE-GROUP-1, CACHE-POISON-1.
    """
    heads, new, total = q.shape[1], q.shape[2], cache.keys.shape[2]
    visible = seen(cache, new, member)  # (B, 1, T, S)
    k = blank(share_keys(cache.keys, heads), visible)  # (B, H, S, D)
    v = blank(share_values(cache.values, heads), visible)
    scale = default_scale(q) if member.scale is None else member.scale
    scores = score_with_offsets(q, k, scale, weights, member, total - new)  # (B, H, T, S)
    scores = prepare(scores, member.softcap, (on(scores, bias_of(new, total, heads, weights, member)),), visible)
    attention = weigh_beside(scores, sinks_of(member, weights, heads))
    return merge_heads(mix_with_offsets(attention, v, weights, member, total - new))


def step(
    x: Tensor, cache: Cache, weights: Weights, num_heads: int, member: Member,
    key_mask: Tensor | None = None, positions: Tensor | None = None,
) -> tuple[Tensor, Cache]:  # fmt: skip
    """Return (output of new tokens, the cache with them).

    Shapes:
        x          (B, T, E)
        key_mask   (B, T)          bool, True = a real token
        positions  (T,) or (B, T)  of the rotation, in tokens; by default they go on where the cache ends
        output     (B, T, O)

    Requirements: the whole chapter (CACHE-ORACLE-1).
    Source: Shazeer 2019, arXiv:1911.02150v1, section 2.4; Pope et al. 2022, arXiv:2211.05102v1, section 3.3.
    """
    places = next_places(cache, x) if positions is None else positions
    real = torch.ones_like(x[..., 0], dtype=torch.bool) if key_mask is None else key_mask  # (B, T)
    q = new_queries(x, weights, num_heads, member, places)  # (B, H, T, D)
    kept = cache.keys.shape[1]
    k = new_keys(x, weights, kept, member, places)  # (B, K, T, D)
    cache = extend(cache, k, split_heads(project_value(x, weights), kept), real)
    context = let_through(attend_to(cache, q, weights, member), x, weights, member, num_heads)
    return project_out(context, weights), cache
