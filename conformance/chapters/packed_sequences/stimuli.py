"""The cases and calls of the chapter spec/packed_sequences.md: rows of documents, and how they are told."""

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import PackedAttentionConfig
from attnconf.conformance.chapters.attention_family.stimuli import shared
from attnconf.conformance.chapters.kv_cache.stimuli import SHAPE
from attnconf.conformance.chapters.multi_head_attention.stimuli import draw_layer, with_inside
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.member_lens import entries
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.subject import Subject

Rows = tuple[tuple[int, ...], ...]  # the lengths of the documents of each row
IDS, BOUNDS = "segment-ids", "cu-seqlens"
NUMBERS = (7, 2, 9, 0, 4, 12, 3, 1, 8, 5, 6)  # ids of documents, in no order

PACKED = (
    SHAPE.case("packed-1", B=4, K=2, G=3, L=9, E=8),
    SHAPE.case("packed-2", B=5, K=3, G=2, L=11, E=4),
)
ONE = PACKED[:1]
ONE_ROW = (SHAPE.case("packed-one-row-1", B=1, K=2, G=3, L=9, E=8),)


def packing_of(subject: Subject) -> str:
    """Return how a subject is told where documents end: as it declares, by ids if in any way."""
    declared = subject.choice("packing")
    return IDS if declared == "any" else declared


def documents(case: Case, packing: str) -> Rows:
    """Return the documents of each row, of 1 token and more; of bounds there is one row."""
    last = max(case.L - 4, 1)
    one = (3, 1, last) if case.L > 4 else (1,) * case.L
    rows = tuple((*one[b % len(one) :], *one[: b % len(one)]) for b in range(case.B))
    return rows if packing == IDS else rows[:1]


def told(case: Case, rows: Rows, packing: str) -> Tensor:
    """Return where documents end, as the packing says it: ids (B, L), or the bounds of the only row (n + 1,)."""
    if packing == BOUNDS:
        return torch.tensor((0, *rows[0]), device=case.device).cumsum(0).int()
    ids = [[NUMBERS[(d + b) % len(NUMBERS)] for d, n in enumerate(row) for _ in range(n)] for b, row in enumerate(rows)]
    return torch.tensor(ids, device=case.device)


def as_tokens(call: Call) -> tuple[int, ...]:
    return (*call.inputs["x"].shape[:2], call.config.out_dim)


def layer(
    subject: Subject, case: Case, packing: str, causal: bool = True, grouped: bool = False, **inside: Any
) -> Call:  # fmt: skip
    """Return a layer on rows of documents."""
    plain = draw_layer(case)
    plain = shared(plain, case) if grouped else plain
    plain = with_inside(plain, case, {**entries(subject.declares), **inside})
    own = {f.name: getattr(plain.config, f.name) for f in fields(plain.config)}
    config = PackedAttentionConfig(**{**own, "causal": causal, "packing": packing})
    rows = documents(case, packing)
    inputs = {"x": plain.inputs["query"][: len(rows)], "documents": told(case, rows, packing)}
    return Call("packed_attention", config, plain.weights, inputs, (), shape_of=as_tokens).shaped()


def run(subject: Subject, call: Call, **inputs: Tensor) -> Tensor:
    return subject.call(call.with_inputs(**inputs).asked()).out


def each_document(case: Case, packing: str) -> Iterator[tuple[int, slice]]:
    """Yield the row and the tokens of each document."""
    for b, row in enumerate(documents(case, packing)):
        at = 0
        for n in row:
            yield b, slice(at, at + n)
            at += n


def alone(call: Call, case: Case, b: int, tokens: slice) -> Call:
    """Return the call on one document alone."""
    x = call.inputs["x"][b : b + 1, tokens]
    return call.with_inputs(x=x, documents=told(case, ((x.shape[1],),), call.config.packing))


def changed(call: Call, **config: Any) -> Call:
    """Return the call with other entries in its configuration."""
    return replace(call, config=replace(call.config, **config))
