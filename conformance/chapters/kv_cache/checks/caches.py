"""Checks of the chapter spec/kv_cache.md: caches are apart, stay as they were, and are put in another order."""

import torch
from torch import Tensor

from attnconf.conformance.chapters.kv_cache import stimuli
from attnconf.conformance.chapters.kv_cache.checks.chunks import Evidence
from attnconf.conformance.chapters.kv_cache.stimuli import Script, changed, chunks, layer, rows, run
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Failure, Measure, close
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject


def other(case: Case, x: Tensor, name: str = "other") -> Tensor:
    return case.draw(name, *x.shape)


@requirement("CACHE-BATCH-1", stimuli.ONE, any_weights=True)
def samples_are_apart(subject: Subject, case: Case) -> Evidence:
    call = layer(subject, case)
    x, script = call.inputs["x"], chunks(case.B, (2, *(1,) * (case.L - 2)))
    want = run(subject, call, script)
    for sample in range(case.B):
        others = other(case, x).clone()
        others[sample] = x[sample]
        got = run(subject, call, script, x=others)
        yield close(got[sample], want[sample], f"out of sample {sample} among other samples")


@requirement("CACHE-FRESH-1", stimuli.ONE, any_weights=True)
def two_sequences_in_turn_are_apart(subject: Subject, case: Case) -> Evidence:
    call = layer(subject, case)
    B, L, x = case.B, case.L, call.inputs["x"]
    both = torch.cat([x, other(case, x)], dim=1)  # tokens 0 … L of the one, L … 2L of the other
    acts: list[tuple[object, ...]] = [("empty", B), ("empty", B)]
    order = []
    for at in range(L):
        acts += [("step", 2 * at, at, at + 1), ("step", 2 * at + 1, L + at, L + at + 1)]
        order += [at, L + at]
    got = run(subject, call, tuple(acts), x=both)
    for begin, what in ((0, "first"), (L, "second")):
        own = [order.index(begin + at) for at in range(L)]
        want = run(subject, call, chunks(B, (1,) * L), x=both[:, begin : begin + L])
        yield close(got[:, own], want, f"out of the {what} of two sequences in turn, against out of it alone,")


@requirement("CACHE-KEEP-1", stimuli.ONE, any_weights=True)
def an_earlier_cache_goes_on(subject: Subject, case: Case) -> Evidence:
    """Two ways on from one cache: 0 1 2 4 and 0 1 3, with the second begun before the first goes on."""
    call = layer(subject, case)
    B, x = case.B, call.inputs["x"]
    script: Script = (
        ("empty", B), ("step", 0, 0, 2), ("step", 1, 2, 3), ("step", 1, 3, 4), ("step", 2, 4, 5), ("step", 3, 4, 5),
    )  # fmt: skip
    x = torch.cat([x, other(case, x)], dim=1)[:, :5]
    got = run(subject, call, script, x=x)
    for way, at in (((0, 1, 2, 4), (0, 1, 2, 4)), ((0, 1, 3, 4), (0, 1, 3, 5))):
        want = run(subject, call, chunks(B, (2, 1, 1)), x=x[:, way])
        yield close(
            got[:, at], want, f"out of tokens {way}, one of two ways on from a cache, against out without the other,"
        )


@requirement("CACHE-ORDER-1", stimuli.STEPS, any_weights=True)
def a_reordered_cache_is_that_of_samples_in_this_order(subject: Subject, case: Case) -> Evidence:
    call = layer(subject, case)
    B, L, x = case.B, case.L, call.inputs["x"]
    first = L - 2
    for order in ((*range(1, B), 0), (0, 0, *range(1, B - 1))):
        moved = torch.cat([x[list(order), :first], x[:, first:]], dim=1)
        script = (
            ("empty", B), ("step", 0, 0, first), ("reorder", 1, order), ("step", 2, first, L - 1),
            ("step", 3, L - 1, L),
        )  # fmt: skip
        want = run(subject, call, chunks(B, (first, 1, 1)), x=moved)[:, first:]
        got = run(subject, call, script)[:, first:]
        yield close(got, want, f"out behind a reordering {order}, against out of samples in that order,")
    if subject.offers("key-mask"):
        yield from _masks_move_along(subject, case, call)


def _masks_move_along(subject: Subject, case: Case, call: Call) -> Evidence:
    B, L, x = case.B, case.L, call.inputs["x"]
    mask = rows(case, [L - b % (L - 2) for b in range(B)], left=True)
    order = (*range(1, B), 0)
    moved, masks = (torch.cat([t[list(order), : L - 2], t[:, L - 2 :]], dim=1) for t in (x, mask))
    want = run(subject, call, chunks(B, (L - 2, 2)), x=moved, key_mask=masks)[:, L - 2 :]
    script = (("empty", B), ("step", 0, 0, L - 2), ("reorder", 1, order), ("step", 2, L - 2, L))
    got = run(subject, call, script, key_mask=mask)[:, L - 2 :]
    yield close(got, want, f"out of padded rows behind a reordering {order}, against out of rows in that order,")


def poisoned(script: Script) -> Script:
    """Return a script in which each cache is poisoned before it goes on."""
    acts: list[tuple[object, ...]] = []
    last = -1
    for act in script:
        acts.append(act if act[0] == "empty" else (act[0], last, *act[2:]))
        acts.append(("poison", len(acts) - 1))
        last = len(acts) - 1
    return tuple(acts)


@requirement("CACHE-POISON-1", stimuli.ONE, any_weights=True)
def what_is_unused_does_not_matter(subject: Subject, case: Case) -> Evidence:
    call = layer(subject, case)
    script = chunks(case.B, (2, 1, case.L - 3))
    beside = [(dict[str, Tensor](), "")]
    if subject.offers("key-mask"):
        mask = rows(case, [case.L - b % 2 for b in range(case.B)], left=True)
        beside.append(({"key_mask": mask}, " of padded rows"))
    for given, what in beside:
        real = given.get("key_mask", torch.ones(case.B, case.L, dtype=torch.bool, device=case.device))
        want = run(subject, call, script, **given)[real]
        got = run(subject, call, poisoned(script), **given)[real]
        yield close(got, want, f"out{what} with NaN in what the cache does not use, against out without,")


@requirement("CACHE-TRAIN-1", stimuli.ONE, any_weights=True)
def in_training_a_cache_begins_empty_too(subject: Subject, case: Case) -> Evidence:
    call = layer(subject, case)
    B, L, x = case.B, case.L, call.inputs["x"]
    both = torch.cat([other(case, x), x], dim=1)
    script: Script = (
        ("empty", B),
        ("step", 0, 0, L),
        ("empty", B),
        ("step", 2, L, 2 * L - 1),
        ("step", 3, 2 * L - 1, 2 * L),
    )
    want = run(subject, call, chunks(B, (L - 1, 1)))
    got = run(subject, changed(call, training=True), script, x=both)[:, L:]
    yield close(got, want, "out of a second sequence in training, against out in evaluation,")


@requirement("CACHE-BEYOND-1", stimuli.ONE, any_weights=True)
def more_tokens_than_fit_are_refused_or_right(subject: Subject, case: Case) -> Evidence:
    call = layer(subject, case)
    for lengths in ((case.L - 1, 1), (case.L,)):
        want = run(subject, call, chunks(case.B, lengths))
        try:
            got = run(subject, changed(call, max_len=case.L - 1), chunks(case.B, lengths))
        except Failure as failure:
            if failure.reason != "raised":
                raise
            yield Measure()
            continue
        yield close(got, want, f"out in chunks of {lengths}, one token more than max_len, against out where all fit,")
