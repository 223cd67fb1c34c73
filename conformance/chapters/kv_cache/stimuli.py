"""The cases and calls of the chapter spec/kv_cache.md: layers with a cache, and scripts by which they are called."""

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import CachedAttentionConfig
from attnconf.conformance.chapters.attention_family.stimuli import shared
from attnconf.conformance.chapters.multi_head_attention.stimuli import draw_layer, with_inside
from attnconf.conformance.engine.case import Case, Shape
from attnconf.conformance.engine.member_lens import entries
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.subject import Subject

Script = tuple[tuple[Any, ...], ...]  # acts, as in conformance/worker/steps.py

# -- the cases

SHAPE = Shape(
    "B K G L E",
    "x({B}, {L}, {embed}), {H} heads of {E}",
    products={"H": "K G", "embed": "K G E", "key_dim": "K G E", "value_dim": "K G E", "S": "L"},
    multiples={"E": 2},
    head="E",
    model="embed",
)

# H is K·G: where heads are shared, neither K nor G is 1 in the first
STEPS = (
    SHAPE.case("steps-1", B=4, K=2, G=3, L=5, E=8),
    SHAPE.case("steps-2", B=5, K=3, G=2, L=7, E=4),
)
ONE = STEPS[:1]
ONE_SAMPLE = (SHAPE.case("steps-one-sample-1", B=1, K=2, G=3, L=5, E=8),)
LONG = (SHAPE.case("steps-long-1", B=2, K=3, G=4, L=23, E=8),)

# -- calls


def as_tokens(call: Call) -> tuple[int, ...]:
    """Return the shape of the output: the tokens of all steps of the script, one behind the other."""
    tokens = sum(act[3] - act[2] for act in call.inputs["cache"] if act[0] == "step")
    return (len(call.inputs["x"]), tokens, call.config.out_dim)


def layer(subject: Subject, case: Case, grouped: bool = False, **inside: Any) -> Call:
    """Return a layer with a cache on the tokens x (B, L, embed) as one chunk, with these parts inside."""
    plain = draw_layer(case)
    plain = shared(plain, case) if grouped else plain
    plain = with_inside(plain, case, {**entries(subject.declares), **inside})
    own = {f.name: getattr(plain.config, f.name) for f in fields(plain.config)}
    config = CachedAttentionConfig(**{**own, "causal": True})
    inputs = {"x": plain.inputs["query"], "cache": whole(case.B, case.L)}
    return Call("cached_attention", config, plain.weights, inputs, (), shape_of=as_tokens).shaped()


def run(subject: Subject, call: Call, script: Script | None = None, **inputs: Tensor) -> Tensor:
    """Return what comes out of a script's steps, one behind the other; ``inputs`` stand in the place of the layer's."""
    given = inputs if script is None else {**inputs, "cache": script}
    return subject.call(call.with_inputs(**given).asked()).out


# -- scripts


def whole(samples: int, length: int) -> Script:
    """Return the script of one chunk."""
    return chunks(samples, (length,))


def chunks(samples: int, lengths: Sequence[int]) -> Script:
    """Return the script of chunks of these lengths, one after the other, from an empty cache on."""
    acts: list[tuple[Any, ...]] = [("empty", samples)]
    at = 0
    for n, length in enumerate(lengths):
        acts.append(("step", n, at, at + length))
        at += length
    return tuple(acts)


def compositions(length: int) -> Iterator[tuple[int, ...]]:
    """Yield every way to cut a length into chunks: 3 -> (3,), (1, 2), (2, 1), (1, 1, 1)."""
    if not length:
        yield ()
    for first in range(length, 0, -1):
        yield from ((first, *rest) for rest in compositions(length - first))


MOST = 5  # up to this length every chunking is tried


def cuts(case: Case) -> Iterator[tuple[int, ...]]:
    """Yield ways to cut a case's length, at least two chunks each: all where it is short, else some, one of them drawn.

    Those drawn differ by seed: that is what ``--thorough`` explores.
    """
    L = case.L
    if L <= MOST:
        yield from (lengths for lengths in compositions(L) if len(lengths) > 1)
        return
    yield (1,) * L
    yield (L // 2, L - L // 2)
    yield (L - 2, 1, 1)
    yield (1, L - 1)
    ends = [at + 1 for at, x in enumerate(case.draw("cuts", L - 1).tolist()) if x > 0.5]
    if ends:
        yield tuple(b - a for a, b in zip((0, *ends), (*ends, L), strict=True))


def rows(case: Case, lengths: Sequence[int], left: bool) -> Tensor:
    """Return the mask (B, max) of rows with so many real tokens, padded on the left or on the right."""
    at = torch.arange(max(lengths), device=case.device)
    n = torch.tensor(lengths, device=case.device)[:, None]
    return at >= max(lengths) - n if left else at < n


def with_padding(case: Case, x: Tensor, mask: Tensor) -> Tensor:
    """Return x with large numbers where the mask is False: they must not matter."""
    return torch.where(mask[..., None], x, 1e2 * case.draw("padding", *x.shape))


def changed(call: Call, **config: Any) -> Call:
    """Return the call with other entries in its configuration."""
    return replace(call, config=replace(call.config, **config))
