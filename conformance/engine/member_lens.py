"""Members of the attention family seen as plain attention: inputs and weights that undo what a member adds.

A rotation is undone by inputs turned the other way round, a norm of queries and keys by features beside the data that
make all of one length, ALiBi by a feature that adds the opposite to the scores, a relative bias and vectors of offsets
by tables of zeros, a learned sink by a logit of nearly minus infinity, a sink of 0 by one number added to all scores, a
gate by zeros, which halve the output. What is left is softmax(t · q kᵀ) v.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import CONVENTIONS, MultiHeadAttentionConfig
from attnconf.reference.alibi import geometric
from attnconf.reference.alibi import slopes as published

# Entries of the configuration, by the convention that says what they are.
ENTRIES = {
    "positions-inside": "positions", "relative-values": "relative_values", "qk-norm": "qk_norm",
    "qk-norm-over": "qk_norm_over", "qk-norm-place": "qk_norm_place", "sinks": "sinks", "output-gate": "gate",
}  # fmt: skip
BUCKETS = 32
FAR = 60.0  # e^-60 beside 1 is nothing


def entries(declares: Mapping[str, str]) -> dict[str, Any]:
    """Return the entries of a configuration that say what a member has: what it always has, if not told otherwise."""
    return {entry: _had(declares, name) for name, entry in ENTRIES.items()}


def _had(declares: Mapping[str, str], name: str) -> str:
    choice = declares.get(name, "any")
    return CONVENTIONS[name][0] if choice == "any" else choice


def is_member(declares: Mapping[str, str]) -> bool:
    """Return whether there is more inside than the attention of 2017 has."""
    return any(_had(declares, name) != CONVENTIONS[name][0] for name in ENTRIES)


@dataclass(frozen=True)
class Undone:
    """Inputs of one width D for heads of which some are idle, and the weights with which a member computes attention.

    q, k     (B, H, T, D), what has to come out of the projections
    weights  those of the member's parts
    factor   what the output has to be multiplied by
    width    E, of the queries as they were
    """

    q: Tensor
    k: Tensor
    weights: dict[str, Tensor]
    factor: float
    width: int


def undone(
    q: Tensor, k: Tensor, scale: float | None, declares: Mapping[str, str], idle: int, eps: float = 1e-6
) -> Undone:
    """Return queries and keys, (B, H, L, E) and (B, H, S, E), made such that a member attends with them as they were.

    ``idle``: heads besides, which are zeros. Query i stands at place i, or at the last of S where there is one query.
    """
    kind = entries(declares) | {"slopes": declares.get("alibi-slopes", "published")}
    E, H = q.shape[-1], q.shape[1]
    pairs = (E + 1) // 2 + 3
    D = 2 * pairs
    t = 1 / math.sqrt(D) if scale is None else scale
    q = q * (math.sqrt(D / E) if scale is None else 1.0)
    added = _added(q, k, t, kind, H + idle)  # (H or 1, S) opposite of what the member adds to the scores
    one = torch.ones_like(q[..., :1])
    against = (added[None, :, :, None] / t).to(k).expand(*k.shape[:-1], 1)
    q, k = _wide(q, one, pairs), _wide(k, against, pairs)
    sizes = {}
    turn = _turned_back if kind["positions"] == "rotary" else _as_it_is
    first = kind["qk_norm_place"] == "before"
    sides = {}
    for at, (name, x) in enumerate((("q_norm", q), ("k_norm", k))):
        x = turn(x) if first else x
        if kind["qk_norm"] != "none":
            x, sizes[name] = _of_one_length(x, -4 if at == 0 else -2, kind["qk_norm"])
        sides[name] = x if first else turn(x)
    weights = _weights(kind, sizes, H, idle, D, q, eps, declares.get("kv-heads") == "one")
    half = declares.get("rope-pairing") == "half" and kind["positions"] == "rotary"
    q, k = (_halves(x) if half else x for x in sides.values())
    return Undone(q, k, weights, 1.0 if kind["gate"] == "none" else 2.0, E)


def _as_it_is(x: Tensor) -> Tensor:
    return x


def _wide(x: Tensor, feature: Tensor, pairs: int) -> Tensor:
    """Return (B, H, T, 2·pairs): data, one feature that meets its like, and room for two pairs that meet none."""
    room = x.new_zeros(*x.shape[:-1], 2 * pairs - x.shape[-1] - x.shape[-1] % 2 - 1)
    even = x.new_zeros(*x.shape[:-1], x.shape[-1] % 2)
    return torch.cat([x, even, feature.to(x), room], dim=-1)


def _added(q: Tensor, k: Tensor, t: float, kind: Mapping[str, str], heads: int) -> Tensor:
    """Return what is to be added to the scores of each key, (H or 1, S), against ALiBi and a sink of 0."""
    S = k.shape[2]
    found = torch.zeros(1, S, dtype=torch.float64)
    if kind["positions"] == "alibi":
        slopes = geometric(heads) if kind["slopes"] == "geometric" else published(heads)
        found = -slopes[: q.shape[1], None] * torch.arange(S, dtype=torch.float64)
    if kind["sinks"] == "add-one":
        largest = _largest(q.norm(dim=-1)) * _largest(k.norm(dim=-1)) * t
        found = found - found.min() + FAR + largest
    return found


def _turned_back(x: Tensor) -> Tensor:
    """Return x (B, H, T, D) with its pairs of neighbours turned against the rotation of places 0, 1, …."""
    D, T = x.shape[-1], x.shape[-2]
    omega = 10000.0 ** (-torch.arange(0, D, 2, dtype=torch.float64) / D)
    theta = -torch.arange(T, dtype=torch.float64)[:, None] * omega  # (T, D/2)
    cos, sin = theta.cos().to(x), theta.sin().to(x)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


def _of_one_length(x: Tensor, at: int, kind: str) -> tuple[Tensor, float]:
    """Return x with two features at ``at`` such that all rows are as long, of mean 0 for a layer norm; the square."""
    square, total = x.square().sum(-1), x.sum(-1)
    whole = 2 * _largest(square) + _largest(total.square()) + 1.0
    rest = whole - square
    if kind == "rms":
        pair = torch.stack([rest.sqrt(), torch.zeros_like(rest)], dim=-1)
    else:
        apart = (rest / 2 - total.square() / 4).sqrt()
        pair = torch.stack([-total / 2 + apart, -total / 2 - apart], dim=-1)
    end = x[..., at + 2 :] if at + 2 else x[..., :0]
    return torch.cat([x[..., :at], pair, end], dim=-1), whole


def _largest(x: Tensor) -> float:
    """Return the largest of the finite numbers, at least 0."""
    return float(x.detach().nan_to_num(0.0, 0.0, 0.0).clamp_min(0).max()) if x.numel() else 0.0


def _halves(x: Tensor) -> Tensor:
    """Return features in the order of the other pairing: all first elements of pairs, then all second ones."""
    return torch.cat([x[..., 0::2], x[..., 1::2]], dim=-1)


def _weights(
    kind: Mapping[str, str],
    sizes: Mapping[str, float],
    H: int,
    idle: int,
    D: int,
    like: Tensor,
    eps: float,
    one_key: bool,
) -> dict[str, Tensor]:
    heads, width = H + idle, (H + idle) * D
    found = {}
    for name, square in sizes.items():
        whole = kind["qk_norm_over"] == "width"
        own = one_key and name == "k_norm"  # the width is that of one head
        mean = square * H / (heads * D) if whole and not own else square / D
        size = width if whole and not own else D
        found[f"{name}.weight"] = like.new_full((size,), math.sqrt(mean + eps))
        if kind["qk_norm"] == "layer":
            found[f"{name}.bias"] = like.new_zeros(size)
    if kind["positions"] == "relative-bias":
        found["relative.weight"] = like.new_zeros(BUCKETS, heads)
    if kind["positions"] == "shaw":
        tables = ("keys", "values") if kind["relative_values"] == "yes" else ("keys",)
        offsets = 2 * MultiHeadAttentionConfig.max_offset + 1
        found |= {f"relative_{name}.weight": like.new_zeros(offsets, D) for name in tables}
    if kind["sinks"] == "learned":
        found["sinks"] = like.new_full((heads,), max(-1e30, torch.finfo(like.dtype).min / 4))
    if kind["gate"] != "none":
        found["gate.weight"] = like.new_zeros(width if kind["gate"] == "features" else heads, width)
    return found


# -- the ways to place them

Made = tuple[MultiHeadAttentionConfig, dict[str, Tensor], dict[str, Tensor], Callable[[Tensor], Tensor]]


def in_heads(
    q: Tensor, k: Tensor, v: Tensor, causal: bool, options: Mapping[str, Any], declares: Mapping[str, str]
) -> Made:
    """Return (config, weights, inputs, read) of cross-attention whose head h has q, k and v of head h."""
    made = undone(q, k, options["scale"], declares, 0)
    H, E, D = q.shape[1], q.shape[-1], made.q.shape[-1]
    width = H * D
    value = _as_wide(v, made)
    eye, zeros = torch.eye(width, dtype=q.dtype, device=q.device), q.new_zeros(width)
    weights = {f"{n}.weight": eye for n in ("q", "k", "v")} | {f"{n}.bias": zeros for n in ("q", "k", "v", "out")}
    weights |= {"out.weight": made.factor * eye, **made.weights}
    config = MultiHeadAttentionConfig(
        width, H, D, width, width, width, True, causal, **options, **entries(declares)
    )  # fmt: skip
    inputs = {"query": side_by_side(made.q), "key": side_by_side(made.k), "value": side_by_side(value)}
    return config, weights, inputs, lambda out: out.unflatten(-1, (H, D))[..., :E].transpose(1, 2)


def in_tokens(
    q: Tensor, k: Tensor, v: Tensor, causal: bool, options: Mapping[str, Any], declares: Mapping[str, str]
) -> Made:
    """Return the same of self-attention: a token carries queries, keys and values as heads; a third of them is used."""
    made = undone(q, k, options["scale"], declares, 2 * q.shape[1])
    token = side_by_side(torch.cat([made.q, made.k, _as_wide(v, made)], dim=1))
    return _in_slots((0, 1, 2), made, causal, options, declares, {"query": token})


def in_memory(
    q: Tensor, k: Tensor, v: Tensor, causal: bool, options: Mapping[str, Any], declares: Mapping[str, str]
) -> Made:
    """Return the same of attention to a memory: its tokens carry keys and values as heads; half of them is used."""
    made = undone(q, k, options["scale"], declares, q.shape[1])
    query = side_by_side(torch.cat([made.q, torch.zeros_like(made.q)], dim=1))
    memory = side_by_side(torch.cat([made.k, _as_wide(v, made)], dim=1))
    return _in_slots((0, 0, 1), made, causal, options, declares, {"query": query, "key": memory})


def _in_slots(
    slots: tuple[int, int, int], made: Undone, causal: bool, options: Mapping[str, Any], declares: Mapping[str, str],
    inputs: dict[str, Tensor],
) -> Made:  # fmt: skip
    """Return the same where tokens carry more than one of queries, keys and values; ``slots``: where each stands."""
    H, D = made.q.shape[1], made.q.shape[-1]
    E, width = made.width, inputs["query"].shape[-1]
    heads = width // D
    weights = {f"{name}.weight": _slot(at, H, D, width, made.q) for name, at in zip("qkv", slots, strict=True)}
    weights |= {"out.weight": made.factor * torch.eye(width, dtype=made.q.dtype, device=made.q.device), **made.weights}
    shared = None
    if declares.get("kv-heads") == "one":  # which then serves the idle heads, too
        shared = 1
        weights |= {name: w[:D] for name, w in weights.items() if name in ("k.weight", "v.weight")}
    config = MultiHeadAttentionConfig(
        width, heads, D, width, width, width, False, causal, num_kv_heads=shared, **options, **entries(declares)
    )  # fmt: skip
    return config, weights, inputs, lambda out: out.unflatten(-1, (heads, D))[:, :, :H, :E].transpose(1, 2)


def _as_wide(v: Tensor, made: Undone) -> Tensor:
    """Return values (B, H, S, E) with features of zeros, as many as queries were given more."""
    return torch.cat([v, v.new_zeros(*v.shape[:-1], made.q.shape[-1] - made.width)], dim=-1)


def side_by_side(x: Tensor) -> Tensor:
    """Return heads (B, H, T, D) side by side in one vector: (B, T, H·D)."""
    return x.transpose(1, 2).flatten(2)


def _slot(at: int, H: int, D: int, width: int, like: Tensor) -> Tensor:
    """Return the projection that gives the first H heads what stands in the slots from ``at``·H on."""
    weight = like.new_zeros(width, width)
    weight[: H * D, at * H * D : (at + 1) * H * D] = torch.eye(H * D, dtype=like.dtype, device=like.device)
    return weight
