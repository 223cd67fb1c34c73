"""Checks of the chapter spec/kv_cache.md: a sequence in chunks gives what it gives in one."""

from collections.abc import Iterable, Iterator

import torch

from attnconf.conformance.chapters.kv_cache import stimuli
from attnconf.conformance.chapters.kv_cache.stimuli import chunks, cuts, layer, run
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Measure, close
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject

Evidence = Iterator[Measure]


def in_chunks_as_in_one(subject: Subject, call: Call, every: Iterable[tuple[int, ...]], what: str = "") -> Evidence:
    """Compare a layer's output for a sequence in chunks of these lengths with that for one chunk."""
    want = run(subject, call)
    for lengths in every:
        got = run(subject, call, chunks(len(want), lengths))
        yield close(got, want, f"out in chunks of {', '.join(map(str, lengths))}{what}, against out in one chunk,")


@requirement("CACHE-CAUSAL-1", stimuli.ONE, any_weights=True)
def a_token_does_not_depend_on_later_ones(subject: Subject, case: Case) -> Evidence:
    call = layer(subject, case)
    want, x = run(subject, call), call.inputs["x"]
    for last in range(case.L - 1):
        other = torch.cat([x[:, : last + 1], case.draw("later", *x[:, last + 1 :].shape)], dim=1)
        got = run(subject, call, x=other)
        yield close(got[:, : last + 1], want[:, : last + 1], f"out up to token {last} with other tokens behind it,")


@requirement("CACHE-DECODE-1", stimuli.STEPS, any_weights=True)
def token_by_token_is_the_whole(subject: Subject, case: Case) -> Evidence:
    yield from in_chunks_as_in_one(subject, layer(subject, case), [(1,) * case.L, (case.L - 1, 1)])


@requirement("CACHE-CHUNK-1", stimuli.STEPS, any_weights=True)
def any_chunks_are_the_whole(subject: Subject, case: Case) -> Evidence:
    yield from in_chunks_as_in_one(subject, layer(subject, case), cuts(case))
