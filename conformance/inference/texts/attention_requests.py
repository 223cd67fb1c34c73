"""Calls of multi-head attention on fresh weights, with which a binding is tried."""

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import MultiHeadAttentionConfig
from attnconf.conformance.engine.member_lens import ENTRIES
from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.texts.attention_parts import BUCKETS
from attnconf.conformance.inference.texts.attention_text import AttentionText
from attnconf.conformance.inference.trials.trial import Certificate, drawn, kept_certificate

COMPONENT = "multi_head_attention"
SEVERAL = ((20, 5, 4), (12, 2, 6))  # embed_dim, num_heads, head_dim of the trials
POWERS = ((16, 4, 4), (12, 2, 6))  # for a constructor that refuses other numbers of heads than powers of two
ONE = ((8, 1, 8), (6, 1, 6))
LONG = (6, 7)  # tokens, of which some are farther from each other than vectors of offsets tell apart


def config_of(sizes: tuple[int, int, int], causal: bool = False) -> MultiHeadAttentionConfig:
    embed, heads, width = sizes
    return MultiHeadAttentionConfig(embed, heads, width, embed, embed, embed, True, causal)


def plain_certificate(text: AttentionText, sizes: tuple[tuple[int, int, int], ...]) -> Certificate:
    """Return calls without masks, in two sizes; the same for all texts that are called alike."""
    key = ("plain", sizes, *called_alike(text), text.causal_always)

    def requests() -> list[Request]:
        shaw = text.inside.get("positions-inside") == "shaw"
        lengths = zip(LONG, LONG, strict=True) if shaw else zip((3, 4), (7, 5), strict=True)
        return [request(text, size, B, L, S, {}) for size, B, (L, S) in zip(sizes, (2, 3), lengths, strict=True)]

    return kept_certificate(COMPONENT, key, requests)


def called_alike(text: AttentionText) -> tuple[Hashable, ...]:
    """Return on what the inputs and weights of a call without masks depend, beside its sizes and causality."""
    inside = tuple(text.inside.items())
    return text.self_only, "value" in text.form.roles, text.lacking, text.square, text.projected, inside, *_parts(text)


def _parts(text: AttentionText) -> tuple[str, str, str, tuple[str, ...]]:
    """Return which sinks, gate, heads of keys, and norms of queries and keys are inside."""
    said = dict(text.family)
    kind: tuple[str, ...] = (text.normed.kind, text.normed.over, text.normed.place) if text.normed else ()
    return said.get("sinks", "none"), said.get("output-gate", "none"), said.get("kv-heads", "same"), kind


def request(
    text: AttentionText, size: tuple[int, int, int], B: int, L: int, S: int, masks: Mapping[str, Tensor], **options: Any
) -> Request:
    """Return one call on fresh weights, of one sequence where the class takes no more."""
    config = config_of(size, causal=options.pop("causal", False) or text.causal_always)
    inside: dict[str, Any] = {entry: text.inside[name] for name, entry in ENTRIES.items() if name in text.inside}
    config = replace(config, **inside)
    sinks, gate, shared, _ = _parts(text)
    config = replace(config, sinks=sinks, gate=gate, num_kv_heads=1 if shared == "one" else None)
    if text.normed:
        kind, over, place = text.normed.kind, text.normed.over, text.normed.place
        config = replace(config, qk_norm=kind, qk_norm_over=over, qk_norm_place=place)
    E, W = config.embed_dim, config.num_heads * config.head_dim
    weights = {
        f"{n}.weight": drawn(f"{n}.weight {size}", W, E) / E**0.5 * (1.5 if n in "qk" else 1)
        for n in ("q", "k", "v", "out")
    }
    weights |= {f"{n}.bias": drawn(f"{n}.bias {size}", W) / 2 for n in ("q", "k", "v", "out")}
    if shared == "one":
        weights |= {n: w[: config.head_dim] for n, w in weights.items() if n[0] in "kv"}
    weights = {n: w for n, w in weights.items() if n not in text.lacking} | _of_norms(text, config, size)
    weights |= _of_parts(config, size)
    if not text.projected:
        weights["out.weight"] = torch.eye(W, dtype=torch.float64)
    query = drawn(f"x {size} {L}", B, L, E)
    same = text.self_only
    S = L if text.square else S
    key = query if same else drawn(f"key {size} {S}", B, S, E)
    inputs = {"query": query} if same else {"query": query, "key": key}
    if "value" in text.form.roles:
        inputs["value"] = drawn(f"value {size} {S}", B, S, E)
    return Request(COMPONENT, config, weights, {**inputs, **masks}, (B, L, E), **options)


def _of_norms(text: AttentionText, config: MultiHeadAttentionConfig, size: tuple[int, int, int]) -> dict[str, Tensor]:
    """Return weights of the norms of queries and keys: gains of about 1, and shifts of a layer norm."""
    if text.normed is None:
        return {}
    width = config.head_dim * (config.num_heads if text.normed.over == "width" else 1)
    found = {f"{n}_norm.weight": 1 + drawn(f"{n}_norm.weight {size}", width) / 3 for n in "qk"}
    if text.normed.kind == "layer":
        found |= {f"{n}_norm.bias": drawn(f"{n}_norm.bias {size}", width) / 3 for n in "qk"}
    return found


def _of_parts(config: MultiHeadAttentionConfig, size: tuple[int, int, int]) -> dict[str, Tensor]:
    """Return weights of a sink, a gate and a table of relative biases, of those that are there."""
    E, H, W = config.embed_dim, config.num_heads, config.num_heads * config.head_dim
    rows = {"none": 0, "heads": H, "features": W}[config.gate]
    found = {"gate.weight": drawn(f"gate.weight {size}", rows, E) / E**0.5} if rows else {}
    if config.sinks == "learned":
        found["sinks"] = drawn(f"sinks {size}", H)
    if config.positions == "relative-bias":
        found["relative.weight"] = drawn(f"relative.weight {size}", BUCKETS, H)
    if config.positions == "shaw":
        names = [f"relative_{name}.weight" for name in ("keys", "values")][: 1 + (config.relative_values == "yes")]
        found |= {name: drawn(f"{name} {size}", 2 * config.max_offset + 1, config.head_dim) for name in names}
    return found
