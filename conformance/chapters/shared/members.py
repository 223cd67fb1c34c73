"""Members of the attention family inside the layers of an encoder: what is declared, and the weights of their parts."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.subject import Subject
from attnconf.reference.attention_family import Member

SPREAD = 0.5  # standard deviation of a gain and of a shift
BUCKETS = 32  # of a relative bias
ENTRIES = {"qk-norm": "qk_norm", "qk-norm-over": "qk_norm_over", "qk-norm-place": "qk_norm_place"}


def turned_part(head_width: int) -> int:
    """Return an even number of the features of a head, more than half of them where that is a part."""
    return max(2, 2 * ((head_width // 2 + 1) // 2))


def inside(subject: Subject, case: Case) -> dict[str, Any]:
    """Return the entries of a configuration that say what the layers of an encoder always have inside.

    What takes a number of features that turn is asked for a part of them.
    """
    normed = subject.choice("qk-norm") not in ("none", "any")
    said = {entry: subject.choice(convention) for convention, entry in ENTRIES.items() if normed}
    said |= {"branch_scale": subject.choice("branch-scale"), "score_bias": subject.choice("score-bias")}
    part = subject.choice("rotary-part") == "given" and subject.choice("rotary-inside") != "none"
    turned = {"rotary_dim": turned_part(case.head_width)} if part else {}
    return {**turned, **{entry: choice for entry, choice in said.items() if choice != "any"}}


def entries_of_encoders(config: Any) -> dict[str, Any]:
    """Return what the reference's style has for the layers of an encoder, and not for those of a decoder."""
    parts = {name: getattr(config, name) for name in ("num_kv_heads", "rotary_dim", "window", *ENTRIES.values())}
    parts |= {"scale": config.score_scale, "softcap": config.score_cap}
    if config.score_bias != "none":
        parts |= {"positions": "relative-bias", "both_ways": config.score_bias == "both-ways"}
    besides = {name: getattr(config, name) for name in ("rotary", "placement", "branch_scale")}
    return {**besides, "attention": Member(**parts)}


def with_member(case: Case, config: Any, weights: Mapping[str, Tensor], attention: str) -> dict[str, Tensor]:
    """Return the weights of plain attention, under this name, as those of what the configuration asks for."""
    kept = getattr(config, "num_kv_heads", None) or config.num_heads
    width = config.embed_dim // config.num_heads
    shared = [f"{attention}.{part}." for part in ("k", "v")]
    drawn = {n: w[: kept * width] if n.startswith(tuple(shared)) else w for n, w in weights.items()}
    kind = getattr(config, "qk_norm", "none")
    for part, heads in (("q", config.num_heads), ("k", kept)) if kind != "none" else ():
        size = width if config.qk_norm_over == "head" else heads * width
        name = f"{attention}.{part}_norm"
        drawn[f"{name}.weight"] = 1 + SPREAD * case.draw(f"{name}.weight", size)
        if kind == "layer":
            drawn[f"{name}.bias"] = SPREAD * case.draw(f"{name}.bias", size)
    return drawn


def draw_scales(case: Case, config: Any, under: str) -> dict[str, Tensor]:
    """Return the factors on what the sublayers of a layer add, where there are any; ``under`` ends with a point."""
    sizes = {"none": (), "vector": (case.width,) * 2, "scalar": (1, 1), "one-scalar": (1,)}[
        getattr(config, "branch_scale", "none")
    ]
    names = [f"{under}scale{i}.weight" for i in range(1, len(sizes) + 1)]
    return {name: 1 + SPREAD * case.draw(name, size) for name, size in zip(names, sizes, strict=True)}


def draw_relative(case: Case, config: Any, under: str) -> dict[str, Tensor]:
    """Return the table of a relative bias, where there is one; ``under`` ends with a point, or is empty."""
    if getattr(config, "score_bias", "none") == "none":
        return {}
    name = f"{under}relative.weight"
    return {name: case.draw(name, BUCKETS, config.num_heads)}


# -- heads of another width


def widened(block: Call) -> Call:
    """Return the block with heads of twice the width, whose further features are the others turned round and halved."""
    width = block.config.embed_dim // block.config.num_heads

    def wide(w: Tensor, axis: int) -> Tensor:
        heads = w.unflatten(axis, (-1, width))
        return torch.cat([heads, 0.5 * heads.flip(axis + 1)], dim=axis + 1).flatten(axis, axis + 1)

    rows = {n: 0 for n in block.weights for part in ("q", "k", "v", "q_norm", "k_norm") if f".attn.{part}." in f".{n}"}
    rows |= {n: 1 for n in block.weights if f".{n}".endswith(".attn.out.weight")}
    changed = {n: wide(block.weights[n], axis) for n, axis in rows.items()}
    return block.with_weights(changed).with_config(head_dim=2 * width)


# -- shared heads


def rows_of(block: Call) -> dict[str, Tensor]:
    """Return the weights that have a row for each feature of the keys and values of all heads."""
    wide = ("k_norm",) if block.config.qk_norm_over == "width" else ()
    names = tuple(f".attn.{part}." for part in ("k", "v", *wide))
    return {name: w for name, w in block.weights.items() if any(part in f".{name}" for part in names)}


def sharing(block: Call, kept: int) -> Call:
    """Return the block with the first heads of keys and values only, so many."""
    rows = kept * block.config.embed_dim // block.config.num_heads
    return block.with_weights({n: w[:rows] for n, w in rows_of(block).items()}).with_config(num_kv_heads=kept)


def repeated(block: Call) -> Call:
    """Return a block of shared heads with a head of keys and values for each head of queries, copies side by side."""
    heads, kept = block.config.num_heads, block.config.num_kv_heads
    copies = {
        name: w.unflatten(0, (kept, -1)).repeat_interleave(heads // kept, dim=0).flatten(0, 1)
        for name, w in rows_of(block).items()
    }
    return block.with_weights(copies).with_config(num_kv_heads=None)
