"""Lenses: a component seen as scaled dot-product attention, q (B, H, L, E), k (B, H, S, E), v (B, H, S, F).

A requirement of ``attention`` or ``masks`` is judged through a lens on any component that contains attention.
A lens places q, k and v in the component's inputs by choosing its weights, and reads the output back. What a
lens cannot express it does not offer, and a requirement that needs it is not applicable there.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import COMPONENTS, AttentionConfig, MultiHeadAttentionConfig
from attnconf.conformance.engine.member_lens import in_heads, in_memory, in_tokens, is_member
from attnconf.conformance.engine.request import Call

OPTIONAL_INPUTS = ("key_mask", "attn_mask", "attn_bias")


@dataclass(frozen=True)
class Options:
    """The options of a call of attention, besides q, k and v."""

    scale: float | None = None
    causal: bool = False
    dropout: float = 0.0
    training: bool = False
    softcap: float | None = None
    window: tuple[int | None, int | None] | None = None
    inside: Mapping[str, str] = field(default_factory=dict)  # choices of a member, instead of "any"

    @property
    def placed(self) -> bool:
        """Whether it matters where a query stands among the keys."""
        return self.causal or self.window is not None

    def in_heads(self, parts: int = 1) -> dict[str, Any]:
        """Return the entries for multi-head attention whose queries are √parts times as long as they should be."""
        scale = None if self.scale is None else self.scale / math.sqrt(parts)
        return {"dropout": self.dropout, "training": self.training, "scale": scale, "softcap": self.softcap,
                "window": self.window}  # fmt: skip


@dataclass(frozen=True)
class Lens:
    """A component seen as attention.

    place   function (q, k, v, optional inputs, options, declares) -> Call of the component that computes attention on
            q, k and v; the Call's ``read`` finds the output of attention in the component's output
    hides   what the component offers as it is, and not through this lens ("projections", say)
    mixes   whether a token carries a query beside its key and its value, which only known projections tell apart
    """

    place: Callable[..., Call]
    hides: frozenset[str] = frozenset()
    mixes: bool = False


def place_direct(
    q: Tensor, k: Tensor, v: Tensor, extra: Mapping[str, Tensor], options: Options, declares: Mapping[str, str]
) -> Call:
    """Place q, k and v in scaled dot-product attention, as they are.

    In one that is always causal, or takes no more keys than queries, each query is apart.
    """
    if _shared(extra, options, declares):
        return _samples_apart(place_direct, q, k, v, extra, options, declares)
    always = declares.get("causality") == "always"
    equal = declares.get("lengths") == "equal" and q.shape[2] != k.shape[2]
    if (always or equal) and not options.causal:
        row = _last_row if always else _seen_row(extra, q.shape[2])
        (q, k, v, extra), read = _each_at_the_end(q, k, v, extra, row)
        placed = place_direct(q, k, v, extra, replace(options, causal=always), declares)
        return replace(placed, read=read, read_weights=read)
    config = AttentionConfig(options.scale, options.causal, options.dropout, options.training)
    rows = (*q.shape[:-1], k.shape[-2])
    inputs = {"query": q, "key": k, "value": v, **extra}
    return Call("attention", config, {}, inputs, (*q.shape[:-1], v.shape[-1]), rows)


def place_heads(
    q: Tensor, k: Tensor, v: Tensor, extra: Mapping[str, Tensor], options: Options, declares: Mapping[str, str]
) -> Call:
    """Place q, k and v in multi-head attention with identity projections: embed_dim = H·E, head h reads slice h."""
    if _shared(extra, options, declares):
        return _samples_apart(place_heads, q, k, v, extra, options, declares)
    B, H, L, E = q.shape
    if is_member(declares):
        if declares.get("positions-inside") == "alibi" and not options.placed and L > 1:  # each query at the end
            return _samples_apart(place_heads, q, k, v, extra, options, declares, by_query=True)
        config, weights, inputs, read = in_heads(q, k, v, options.causal, options.in_heads(), declares)
        out_shape = (B, L, config.out_dim)
        return Call("multi_head_attention", config, weights, {**inputs, **extra}, out_shape, (B, H, L, k.shape[2]),
                    read=read)  # fmt: skip
    width = H * E
    config = MultiHeadAttentionConfig(width, H, E, width, width, width, True, options.causal, **options.in_heads())
    weights = {}
    for name in ("q", "k", "v", "out"):
        weights[f"{name}.weight"] = torch.eye(width, dtype=q.dtype, device=q.device)
        weights[f"{name}.bias"] = torch.zeros(width, dtype=q.dtype, device=q.device)
    inputs = {"query": _side_by_side(q), "key": _side_by_side(k), "value": _side_by_side(v), **extra}
    return Call(
        "multi_head_attention", config, weights, inputs, (B, L, width), (B, H, L, k.shape[2]),
        read=lambda out: out.unflatten(-1, (H, E)).transpose(1, 2),
    )  # fmt: skip


def _side_by_side(x: Tensor) -> Tensor:
    return x.transpose(1, 2).flatten(2)


def place_self(
    q: Tensor, k: Tensor, v: Tensor, extra: Mapping[str, Tensor], options: Options, declares: Mapping[str, str]
) -> Call:
    """Place q, k and v in multi-head self-attention: a token carries its query, key and value side by side, 3·E a head.

    Unless causality or a window is asked for, every query gets a sequence of its own, in which it is the last token:
    the last row sees every key, in an always-causal component too. Where weights are dropped, as many queries as keys
    stay together: samples may share what is dropped. With ALiBi none does: it is undone for queries at the end alone.
    """
    if _shared(extra, options, declares):
        return _samples_apart(place_self, q, k, v, extra, options, declares)
    _, H, L, E = q.shape
    S = k.shape[2]
    causal = options.causal or declares.get("causality") == "always"
    last = declares.get("positions-inside") == "alibi"
    together = options.training and options.dropout > 0 and S == L and not causal and not last
    in_row = not (options.placed or together)
    rows: Callable[[Tensor], Tensor] = _as_they_are
    if in_row:
        (q, k, v, extra), rows = _each_at_the_end(q, k, v, extra)

    if is_member(declares):
        config, weights, inputs, read_heads = in_tokens(q, k, v, causal, options.in_heads(), declares)
        n, extra = len(inputs["query"]), {name: _for_idle(x, 2 * H) for name, x in extra.items()}
        return Call(
            "multi_head_attention", config, weights, {**inputs, **extra}, (n, S, config.out_dim),
            (n, config.num_heads, S, S), read=lambda out: rows(read_heads(out)),
            read_weights=lambda attention: rows(attention[:, :H]),
        )  # fmt: skip
    token = torch.cat([q, k, v], dim=-1)
    width = 3 * H * E
    config = MultiHeadAttentionConfig(width, H, 3 * E, width, width, width, False, causal, **options.in_heads(3))
    weights = {f"{name}.weight": _pick(i, H, E, q) for i, name in enumerate(("q", "k", "v"))}
    weights["out.weight"] = torch.eye(width, dtype=q.dtype, device=q.device)

    def read(out: Tensor) -> Tensor:
        return rows(out.unflatten(-1, (H, 3 * E))[..., :E].transpose(1, 2))

    n = len(token)
    inputs = {"query": _side_by_side(token), **extra}
    return Call(
        "multi_head_attention", config, weights, inputs, (n, S, width), (n, H, S, S),
        read=read, read_weights=rows,
    )  # fmt: skip


def _last_row(x: Tensor) -> Tensor:
    return x[:, :, -1]


def _seen_row(extra: Mapping[str, Tensor], L: int) -> Callable[[Tensor], Tensor]:
    """Return what reads one of the copies of a query, at a place that is no padding: others may be zeros."""
    if "key_mask" not in extra:
        return lambda x: x[:, :, 0]
    first = extra["key_mask"].long().argmax(-1).repeat_interleave(L)
    return lambda x: x[torch.arange(len(x)), :, first]


def _each_at_the_end(
    q: Tensor, k: Tensor, v: Tensor, extra: Mapping[str, Tensor],
    row: Callable[[Tensor], Tensor] = _last_row,
) -> tuple[tuple[Tensor, Tensor, Tensor, dict[str, Tensor]], Callable[[Tensor], Tensor]]:  # fmt: skip
    """Return inputs with a sample (B·L, H, S, …) for each query, S times there, and what reads the last of these.

    ``row`` reads another one.
    """
    (B, H, L, E), S = q.shape, k.shape[2]
    queries = q.transpose(1, 2).reshape(B * L, H, 1, E).expand(-1, -1, S, -1)
    keys, values = k.repeat_interleave(L, dim=0), v.repeat_interleave(L, dim=0)
    apart = {name: _in_rows(name, x, B, H, L, S) for name, x in extra.items()}
    return (queries, keys, values, apart), lambda x: row(x).unflatten(0, (B, L)).transpose(1, 2)


def _as_they_are(heads: Tensor) -> Tensor:
    return heads


def _for_idle(x: Tensor, idle: int) -> Tensor:
    """Return a mask or bias that differs between heads, (…, H, L, S), with more heads, each as the first."""
    if x.ndim < 3 or x.shape[-3] == 1:
        return x
    return torch.cat([x, x[..., :1, :, :].expand(*x.shape[:-3], idle, -1, -1)], dim=-3)


def _shared(extra: Mapping[str, Tensor], options: Options, declares: Mapping[str, str]) -> str | None:
    """Return "queries" or "heads" if a mask differs between them and the component takes none that does; else ""."""
    masks = declares.get("masks", "any")
    given = [extra[name] for name in ("attn_mask", "attn_bias") if name in extra]
    if masks == "keys" and given and not options.causal:
        return "queries"
    differs = any(x.ndim > 2 and x.shape[-3] > 1 for x in given)
    return "heads" if masks == "shared" and differs else None


def _samples_apart(
    place: Callable[..., Call], q: Tensor, k: Tensor, v: Tensor, extra: Mapping[str, Tensor], options: Options,
    declares: Mapping[str, str], by_query: bool = False,
) -> Call:  # fmt: skip
    """Place each head in a sample with a mask of its own; also each query, where masks must be shared by queries."""
    (B, H, L, E), S = q.shape, k.shape[2]
    by_query = by_query or _shared(extra, options, declares) == "queries"
    n = L if by_query else 1  # samples for each sample and head
    rows = L // n
    q = q.reshape(B, H, n, rows, E).transpose(1, 2)[:, :, None].expand(B, n, H, H, rows, E).reshape(-1, H, rows, E)
    k, v = (x.repeat_interleave(n * H, dim=0) for x in (k, v))
    apart = {}
    for name, x in extra.items():
        if name == "key_mask":
            apart[name] = x.repeat_interleave(n * H, dim=0)
        else:
            apart[name] = x.expand(B, H, L, S).reshape(B, H, n, rows, S).transpose(1, 2).reshape(-1, 1, rows, S)
    placed = place(q, k, v, apart, options, {**declares, "masks": "any"})

    def together(x: Tensor) -> Tensor:
        own = x.unflatten(0, (B, n, H)).diagonal(dim1=2, dim2=3)  # (B, n, rows, width, H)
        return own.movedim(-1, 1).flatten(2, 3)

    return replace(placed, read=lambda out: together(placed.read(out)),
                   read_weights=lambda attention: together(placed.read_weights(attention)))  # fmt: skip


def place_memory(
    q: Tensor, k: Tensor, v: Tensor, extra: Mapping[str, Tensor], options: Options, declares: Mapping[str, str]
) -> Call:
    """Place k and v in the memory of multi-head attention: a token carries key and value side by side, 2·E a head."""
    if _shared(extra, options, declares):
        return _samples_apart(place_memory, q, k, v, extra, options, declares)
    B, H, L, E = q.shape
    S, width = k.shape[2], 2 * H * E
    if is_member(declares):
        if declares.get("positions-inside") == "alibi" and not options.placed and L > 1:  # each query at the end
            return _samples_apart(place_memory, q, k, v, extra, options, declares, by_query=True)
        config, weights, inputs, read = in_memory(q, k, v, options.causal, options.in_heads(), declares)
        extra = {name: _for_idle(x, H) for name, x in extra.items()}
        return Call(
            "multi_head_attention", config, weights, {**inputs, **extra}, (B, L, config.out_dim),
            (B, config.num_heads, L, S), read=read, read_weights=lambda attention: attention[:, :H],
        )  # fmt: skip
    config = MultiHeadAttentionConfig(
        width, H, 2 * E, width, width, width, False, options.causal, **options.in_heads(2)
    )
    parts = {"q": 0, "k": 0, "v": 1}
    weights = {f"{name}.weight": _pick(part, H, E, q, 2, turned=name == "q") for name, part in parts.items()}
    weights["out.weight"] = torch.eye(width, dtype=q.dtype, device=q.device)
    query = _side_by_side(torch.cat([q, torch.zeros_like(q)], dim=-1))
    memory = _side_by_side(torch.cat([k, v], dim=-1))
    inputs = {"query": query, "key": memory, **extra}
    return Call(
        "multi_head_attention", config, weights, inputs, (B, L, width), (B, H, L, S),
        read=lambda out: out.unflatten(-1, (H, 2 * E))[..., :E].transpose(1, 2),
    )  # fmt: skip


def _in_rows(name: str, x: Tensor, B: int, H: int, L: int, S: int) -> Tensor:
    """Return a mask or bias for samples of one query each."""
    if name == "key_mask":
        return x.repeat_interleave(L, dim=0)
    rows = x.expand(B, H, L, S).transpose(1, 2).reshape(B * L, H, 1, S)
    return rows.expand(-1, -1, S, -1)


def _pick(part: int, H: int, E: int, like: Tensor, parts: int = 3, turned: bool | None = None) -> Tensor:
    """Return the projection that moves one part of each head's slice to its front.

    A head is 3E wide here, so 1/√(3E) is what a right scale is; √3 in the queries makes it 1/√E.
    """
    block = torch.zeros(parts * E, parts * E, dtype=like.dtype, device=like.device)
    query = part == 0 if turned is None else turned
    block[:E, part * E : (part + 1) * E] = torch.eye(E, dtype=like.dtype) * (math.sqrt(parts) if query else 1.0)
    return torch.block_diag(*[block] * H)


_OF_LAYERS = frozenset({"projections", "input-biases", "output-projection", "output-bias", "value-width", "free-width"})
_OF_ONE_INPUT = frozenset({"cross", "free-width"})
# The lenses by (component, name of the lens).
LENSES = {
    ("attention", "direct"): Lens(place_direct),
    ("multi_head_attention", "direct"): Lens(place_heads),
    ("multi_head_attention", "direct-self"): Lens(place_self, _OF_ONE_INPUT),
    ("multi_head_attention", "direct-memory"): Lens(place_self, _OF_ONE_INPUT),
    ("multi_head_attention", "heads"): Lens(place_heads, _OF_LAYERS),
    ("multi_head_attention", "self"): Lens(place_self, _OF_LAYERS | {"cross"}, mixes=True),
    ("multi_head_attention", "memory"): Lens(place_memory, _OF_LAYERS),
}


def offered(component: str, lens: str) -> frozenset[str]:
    """Return what can be asked of a component through a lens; "direct" is the component as it is.

    Raises KeyError for a lens that the component does not have.
    """
    if (component, lens) in LENSES:
        return COMPONENTS[component].offers - LENSES[component, lens].hides
    if lens != "direct":
        raise KeyError((component, lens))
    return COMPONENTS[component].offers
