"""What spec/attention_family.md says that an attention of a family computes, by the reference."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from attnconf.reference.attention_family import Member, family_attention, heads
from attnconf.reference.masks import causal
from attnconf.reference.multi_head_attention import merge_heads
from attnconf.reference.rotary import frequencies, rotate
from attnconf.reports.families import naming
from attnconf.reports.families.families import Family


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
    if width == head_dim:
        return family_attention(x, memory, memory, weights, num_heads, member, seen)[0]
    return _partly_turned(x, weights, num_heads, member, width, seen)


def _partly_turned(
    x: Tensor, weights: Mapping[str, Tensor], num_heads: int, member: Member, width: int, seen: Tensor
) -> Tensor:
    """Return the output where only the first features of a head turn, which the reference's member cannot say.

    Queries and keys are turned first, and are then the tokens, with projections that change nothing.
    """
    without = replace(member, positions="none")
    q, k, _ = heads(x, x, x, weights, num_heads, without)  # (B, H, L, D)
    omega = frequencies(width, member.base)
    q, k = (merge_heads(rotate(part, None, omega, width)) for part in (q, k))
    same = torch.eye(q.shape[-1], dtype=x.dtype)
    others = {name: w for name, w in weights.items() if name.partition(".")[0] in ("v", "out")}
    given = others | {"q.weight": same, "k.weight": same}
    return family_attention(q, k, x, given, num_heads, replace(without, num_kv_heads=None), seen)[0]


def seen(queries: int, keep: Tensor, is_causal: bool) -> Tensor:
    """Return where queries may look, broadcastable to (B, H, L, S): at real keys, and not at later ones if causal."""
    real = keep[:, None, None, :]  # (B, 1, 1, S)
    return real & causal(queries, keep.shape[1]) if is_causal else real
