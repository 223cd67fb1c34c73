"""What spec/attention_family.md says that an attention of a family computes, by the reference."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from attnconf.reference.attention_family import Member, family_attention, heads
from attnconf.reference.masks import causal
from attnconf.reference.multi_head_attention import merge_heads
from attnconf.reference.rotary import frequencies, magnitude, rotate, scaled
from attnconf.reports.families import naming
from attnconf.reports.families.families import Family, Scaling


def attend(
    family: Family, config: Any, layer: int, parameters: Mapping[str, Tensor], x: Tensor, memory: Tensor, seen: Tensor
) -> Tensor:
    """Return the output (B, L, O) for tokens x (B, L, E) that attend to a memory (B, S, E), which may be x itself.

    ``parameters`` are the module's own, ``seen`` is True where a query may look. Computed in the dtype of x.
    """
    num_heads = config.num_attention_heads
    weights, member = family.weights(parameters, config), family.member(config, layer)
    head_dim = weights["q.weight"].shape[0] // num_heads
    turns = family.rotation
    if turns is None:
        return family_attention(x, memory, memory, weights, num_heads, member, seen)[0]
    width = turns.width or head_dim
    if turns.pairs == "half":
        weights = naming.neighbours(weights, head_dim, width)
    if width == head_dim and turns.scaling is None:
        return family_attention(x, memory, memory, weights, num_heads, member, seen)[0]
    scaling = None if turns.scaling is None else turns.scaling(config)
    q, k = _turned(x, weights, num_heads, member, width, scaling)
    same = {f"{name}.weight": torch.eye(part.shape[-1], dtype=x.dtype) for name, part in (("q", q), ("k", k))}
    others = {name: w for name, w in weights.items() if name.partition(".")[0] in ("v", "out")}
    return family_attention(q, k, x, same | others, num_heads, replace(member, positions="none"), seen)[0]


def _turned(
    x: Tensor, weights: Mapping[str, Tensor], num_heads: int, member: Member, width: int, scaling: Scaling | None
) -> tuple[Tensor, Tensor]:
    """Return queries (B, L, H·D) and keys (B, L, K·D) turned as rotary.md says, where a member cannot say how.

    That is where a part of each head turns, or by frequencies for longer sequences. These are then the tokens of
    queries and keys, with projections that change nothing.
    """
    q, k, _ = heads(x, x, x, weights, num_heads, replace(member, positions="none"))  # (B, H, L, D)
    omega = scaled(frequencies(width, member.base), member.base, scaling)
    q, k = (rotate(part, None, omega, width, magnitude(scaling)) for part in (q, k))
    of_each = num_heads // (member.num_kv_heads or num_heads)  # heads that share their keys, which stand side by side
    return merge_heads(q), merge_heads(k[:, ::of_each])


def seen(queries: int, keep: Tensor, is_causal: bool) -> Tensor:
    """Return where queries may look, broadcastable to (B, H, L, S): at real keys, and not at later ones if causal."""
    real = keep[:, None, None, :]  # (B, 1, 1, S)
    return real & causal(queries, keep.shape[1]) if is_causal else real
