"""Checks of the chapter spec/attention.md: what a row of the output may depend on, and that it is an average."""

from collections.abc import Iterator
from typing import Any

import torch

from attnconf.conformance.chapters.attention import stimuli
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import (
    SINGLE,
    SINGLE_SOURCE,
    Measure,
    close,
    identical,
    within,
)
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject

Evidence = Iterator[Measure]


# -- shape, dtype, and what a call may not depend on


@requirement("ATT-PREC-1", stimuli.DISTINCT)
def a_small_step_makes_a_small_smooth_change(subject: Subject, case: Case) -> Evidence:
    """f(x+δ) - 2f(x) + f(x-δ) is of order δ² for a smooth f; rounding to half precision makes it of order 1e-3."""
    middle = subject.attend(case.q, case.k, case.v).out
    unit = float(case.v.abs().max())
    for name in ("q", "k", "v"):
        x: dict[str, Any] = {"q": case.q, "k": case.k, "v": case.v}
        step = 2e-5 * case.draw(f"step-{name}", *x[name].shape)
        up = subject.attend(**{**x, name: x[name] + step}).out
        down = subject.attend(**{**x, name: x[name] - step}).out
        yield close(up + down, 2 * middle, f"out({name} + δ) + out({name} - δ)", unit=unit)


# -- what a row of the output may depend on


@requirement("ATT-BATCH-1", stimuli.DISTINCT, stimuli.BATCHES, any_weights=True)
def a_sample_does_not_see_the_others(subject: Subject, case: Case) -> Evidence:
    together = subject.attend(case.q, case.k, case.v).out
    for b in range(case.B):
        alone = subject.attend(case.q[b : b + 1], case.k[b : b + 1], case.v[b : b + 1]).out
        yield close(together[b : b + 1], alone, f"out of sample {b} in the batch, against it alone,")


@requirement("ATT-HEAD-1", stimuli.DISTINCT)
def a_head_does_not_see_the_others(subject: Subject, case: Case) -> Evidence:
    want = subject.attend(case.q, case.k, case.v).out
    other = case.but(name="other")
    for h in range(case.H):
        q, k, v = other.q.clone(), other.k.clone(), other.v.clone()
        q[:, h], k[:, h], v[:, h] = case.q[:, h], case.k[:, h], case.v[:, h]
        got = subject.attend(q, k, v).out
        yield close(got[:, h], want[:, h], f"out of head {h} when only the other heads change")


@requirement("ATT-QUERY-1", stimuli.DISTINCT, any_weights=True)
def a_query_does_not_see_the_others(subject: Subject, case: Case) -> Evidence:
    together = subject.attend(case.q, case.k, case.v).out
    for i in range(case.L):
        alone = subject.attend(case.q[:, :, i : i + 1], case.k, case.v).out
        yield close(together[:, :, i : i + 1], alone, f"out of query {i} among the others, against it alone,")
    order = case.permutation("queries", case.L)
    yield close(
        subject.attend(case.q[:, :, order], case.k, case.v).out, together[:, :, order], "out of permuted queries"
    )


@requirement("ATT-KEYS-1", stimuli.DISTINCT, any_weights=True, moves_keys=True)
def the_order_of_the_keys_does_not_matter(subject: Subject, case: Case) -> Evidence:
    order = case.permutation("keys", case.S)
    want = subject.attend(case.q, case.k, case.v).out
    got = subject.attend(case.q, case.k[:, :, order], case.v[:, :, order]).out
    yield close(got, want, "out with keys and values permuted together")


# -- the weights: an average over the keys


@requirement("ATT-LINEAR-1", stimuli.DISTINCT)
def the_output_is_linear_in_the_values(subject: Subject, case: Case) -> Evidence:
    w = case.draw("other values", *case.v.shape)
    got = subject.attend(case.q, case.k, 2 * case.v - 3 * w).out
    want = 2 * subject.attend(case.q, case.k, case.v).out - 3 * subject.attend(case.q, case.k, w).out
    yield close(got, want, "out(2v - 3w) against 2 out(v) - 3 out(w)")


@requirement("ATT-ROWS-1", stimuli.DISTINCT, stimuli.EDGES)
def the_weights_of_a_query_sum_to_one(subject: Subject, case: Case) -> Evidence:
    out = subject.attend(case.q, case.k, torch.ones_like(case.v)).out
    yield close(out, torch.ones_like(out), "out with V = 1")


@requirement("ATT-CONVEX-1", stimuli.DISTINCT)
def the_output_lies_between_the_values(subject: Subject, case: Case) -> Evidence:
    out = subject.attend(case.q, case.k, case.v).out
    low, high = case.v.amin(dim=2, keepdim=True), case.v.amax(dim=2, keepdim=True)
    yield within(out, low.expand_as(out), high.expand_as(out), "out, clamped to the values' range,")


@requirement("ATT-SINGLE-1", stimuli.DISTINCT)
def a_single_key_hands_over_its_value(subject: Subject, case: Case) -> Evidence:
    # exact where code computes in float32, too, and where what is fed in is added to the output and taken off again
    q, k, v = (x.float().to(case.dtype) for x in (case.q, case.k[:, :, :1], case.v[:, :, :1]))
    yield identical(subject.attend(q, k, v).out, v.expand(-1, -1, case.L, -1).contiguous(), "out with one key")


@requirement("ATT-DUPL-1", stimuli.DISTINCT)
def repeating_every_key_changes_nothing(subject: Subject, case: Case) -> Evidence:
    q, k, v = case.q, case.k[:, :, :4], case.v[:, :, :4]
    want = subject.attend(q, k, v).out
    got = subject.attend(q, k.repeat(1, 1, 2, 1), v.repeat(1, 1, 2, 1)).out
    yield close(got, want, "out with every key and value there twice")


@requirement("ATT-LONG-1", stimuli.LONG)
def every_key_and_query_of_a_long_sequence_counts(subject: Subject, case: Case) -> Evidence:
    yield from counts_every_key(subject, case)


@requirement("ATT-LONG-2", stimuli.LONGER)
def every_key_and_query_beyond_2048_counts(subject: Subject, case: Case) -> Evidence:
    yield from counts_every_key(subject, case)


def counts_every_key(subject: Subject, case: Case) -> Evidence:
    """Equal scores (q = 0) weigh every key alike: the output is the mean of all values, in every row."""
    out = subject.attend(torch.zeros_like(case.q), case.k, case.v).out
    want, what = (
        case.v.double().mean(dim=2, keepdim=True).expand_as(out),
        "out with q = 0, against the mean of the values,",
    )
    if case.dtype == torch.float32:
        yield close(out, want, what, bound=SINGLE, source=SINGLE_SOURCE, unit=float(case.v.abs().max()))
    else:
        yield close(out, want, what)
