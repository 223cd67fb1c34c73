"""Ways to get decoder layers, and stacks of them, wrong: the layer."""

from collections.abc import Callable
from typing import Any

import torch

from attnconf.conformance.chapters.decoder.mutants.shared import LAYERS, attend, look, normed, think
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import encoder


def post_inside_out(x, memory, weights, style, mask, memory_mask):
    h = x + normed(attend(x, weights, style, mask), weights, "norm1", style)
    h = h + normed(look(h, memory, weights, style, memory_mask), weights, "norm2", style)
    return h + normed(think(h, weights, style), weights, "norm3", style)


sublayer_normed = Mutant(
    "DEC-sublayer-normed",
    story="in post-norm the sublayer is normalized, not the sum: x + norm(f(x))",
    breaks={"DEC-ZERO-2"},
    hint="norm(x + f(x))",
    replace={LAYERS["post"]: post_inside_out},
    source="annotated-transformer#110",
)

orders_swapped = Mutant(
    "DEC-orders-swapped",
    story="norm_first means the opposite",
    breaks={"DEC-ZERO-1", "DEC-ZERO-2"},
    hint="norm_first=True is x + f(norm(x))",
    replace={LAYERS["pre"]: LAYERS["post"], LAYERS["post"]: LAYERS["pre"]},
    source="annotated-transformer#13",
)


def renamed(names: dict[str, str]) -> Callable[..., Any]:
    """Return ``normed`` with the weights of other norms."""

    def norm(x, weights, name, style):
        return normed(x, weights, names.get(name, name), style)

    return norm


norms_swapped = Mutant(
    "DEC-norms-swapped",
    story="norm1 and norm2 are exchanged",
    breaks={"DEC-NORM-1", "DEC-ZERO-2"},
    hint="norm1 stands beside self-attention, norm2 beside the attention to the memory, norm3 beside feed-forward",
    replace={normed: renamed({"norm1": "norm2", "norm2": "norm1"})},
)

one_norm = Mutant(
    "DEC-one-norm",
    story="one norm serves all three sublayers",
    breaks={"DEC-NORM-1", "DEC-ZERO-2", "DEC-GRAD-1"},
    hint="three norms, each with its own gain and shift",
    replace={normed: renamed({"norm2": "norm1", "norm3": "norm1"})},
)


def pre_without_norm2(x, memory, weights, style, mask, memory_mask):
    h = x + attend(normed(x, weights, "norm1", style), weights, style, mask)
    h = h + look(h, memory, weights, style, memory_mask)
    return h + think(normed(h, weights, "norm3", style), weights, style)


no_norm2 = Mutant(
    "DEC-no-norm2",
    story="the queries to the memory are made from targets that are not normalized",
    breaks={"DEC-NORM-1", "DEC-GRAD-1"},
    hint="h + cross(norm2(h), memory)",
    replace={LAYERS["pre"]: pre_without_norm2},
)


def pre_cross_first(x, memory, weights, style, mask, memory_mask):
    h = x + look(normed(x, weights, "norm2", style), memory, weights, style, memory_mask)
    h = h + attend(normed(h, weights, "norm1", style), weights, style, mask)
    return h + think(normed(h, weights, "norm3", style), weights, style)


def post_cross_first(x, memory, weights, style, mask, memory_mask):
    h = normed(x + look(x, memory, weights, style, memory_mask), weights, "norm1", style)
    h = normed(h + attend(h, weights, style, mask), weights, "norm2", style)
    return normed(h + think(h, weights, style), weights, "norm3", style)


cross_first = Mutant(
    "DEC-cross-first",
    story="the attention to the memory comes before self-attention",
    breaks={"DEC-ORDER-1"},
    hint="first the targets among themselves, then the memory",
    replace={LAYERS["pre"]: pre_cross_first, LAYERS["post"]: post_cross_first},
)


def post_cross_first_with_its_norm(x, memory, weights, style, mask, memory_mask):
    h = normed(x + look(x, memory, weights, style, memory_mask), weights, "norm2", style)
    h = normed(h + attend(h, weights, style, mask), weights, "norm1", style)
    return normed(h + think(h, weights, style), weights, "norm3", style)


cross_first_with_its_norm = Mutant(
    "DEC-cross-first-with-its-norm",
    story="in post-norm the memory is looked at before the targets, each sublayer with its own norm",
    breaks={"DEC-ZERO-2"},
    hint="self-attention, then attention to the memory, then feed-forward",
    replace={LAYERS["post"]: post_cross_first_with_its_norm},
)


def pre_cross_last(x, memory, weights, style, mask, memory_mask):
    h = x + attend(normed(x, weights, "norm1", style), weights, style, mask)
    h = h + think(normed(h, weights, "norm3", style), weights, style)
    return h + look(normed(h, weights, "norm2", style), memory, weights, style, memory_mask)


def post_cross_last(x, memory, weights, style, mask, memory_mask):
    h = normed(x + attend(x, weights, style, mask), weights, "norm1", style)
    h = normed(h + think(h, weights, style), weights, "norm2", style)
    return normed(h + look(h, memory, weights, style, memory_mask), weights, "norm3", style)


cross_last = Mutant(
    "DEC-cross-last",
    story="the attention to the memory comes after the feed-forward network",
    breaks={"DEC-ORDER-1"},
    hint="the feed-forward network comes last: it works on what both attentions brought",
    replace={LAYERS["pre"]: pre_cross_last, LAYERS["post"]: post_cross_last},
)


def pre_parallel(x, memory, weights, style, mask, memory_mask):
    first = attend(normed(x, weights, "norm1", style), weights, style, mask)
    second = look(normed(x, weights, "norm2", style), memory, weights, style, memory_mask)
    return x + first + second + think(normed(x, weights, "norm3", style), weights, style)


parallel = Mutant(
    "DEC-parallel",
    story="the sublayers of a pre-norm layer all read the layer's input",
    breaks={"DEC-ORDER-1"},
    hint="each sublayer reads what the one before it made",
    replace={LAYERS["pre"]: pre_parallel},
)


def pre_stale_query(x, memory, weights, style, mask, memory_mask):
    h = x + attend(normed(x, weights, "norm1", style), weights, style, mask)
    h = h + look(normed(x, weights, "norm2", style), memory, weights, style, memory_mask)
    return h + think(normed(h, weights, "norm3", style), weights, style)


def post_stale_query(x, memory, weights, style, mask, memory_mask):
    h = normed(x + attend(x, weights, style, mask), weights, "norm1", style)
    h = normed(h + look(x, memory, weights, style, memory_mask), weights, "norm2", style)
    return normed(h + think(h, weights, style), weights, "norm3", style)


stale_query = Mutant(
    "DEC-stale-query",
    story="the memory is asked by the layer's input, not by what self-attention made of it",
    breaks={"DEC-ORDER-1"},
    hint="the queries are those of h, after self-attention",
    replace={LAYERS["pre"]: pre_stale_query, LAYERS["post"]: post_stale_query},
)


def post_reads_normed(x, memory, weights, style, mask, memory_mask):
    n = normed(x, weights, "norm1", style)
    h = n + attend(n, weights, style, mask)
    h = normed(h + look(h, memory, weights, style, memory_mask), weights, "norm2", style)
    return normed(h + think(h, weights, style), weights, "norm3", style)


norm_before_sum = Mutant(
    "DEC-norm-before-sum",
    story="in post-norm the first norm comes before the sublayer and its residual, not after the sum",
    breaks={"DEC-ORDER-1"},
    hint="norm1(x + self(x))",
    replace={LAYERS["post"]: post_reads_normed},
)

no_feed_forward = Mutant(
    "DEC-no-feed-forward",
    story="there is no feed-forward network",
    breaks={"DEC-GRAD-1"},
    hint="a decoder layer has three sublayers",
    replace={think: lambda x, weights, style: torch.zeros_like(x)},
    source="system 3d",
)


def self_for_both(x, memory, weights, style, mask):
    return look(x, memory, {f"cross.{n}": w for n, w in encoder.under(weights, "self").items()}, style, mask)


one_attention = Mutant(
    "DEC-one-attention",
    story="one attention module serves targets and memory",
    breaks={"DEC-KV-1", "DEC-NORM-1", "DEC-GRAD-1"},
    hint="two modules: self-attention and attention to the memory have weights of their own",
    replace={look: self_for_both},
)
