"""Checks of the chapter spec/packed_sequences.md. Each document of a row is compared with itself alone."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import torch

from attnconf.conformance.chapters.attention_family.checks.together import formula_for, members
from attnconf.conformance.chapters.kv_cache.checks.together import same_gradients
from attnconf.conformance.chapters.multi_head_attention.checks.together import with_gradients
from attnconf.conformance.chapters.packed_sequences import stimuli
from attnconf.conformance.chapters.packed_sequences.stimuli import (
    BOUNDS,
    IDS,
    alone,
    changed,
    each_document,
    layer,
    packing_of,
    run,
)
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Measure, close
from attnconf.conformance.engine.member_lens import ENTRIES
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject

Evidence = Iterator[Measure]


def as_apart(subject: Subject, case: Case, call: Call, what: str = "") -> Evidence:
    """Compare each document of a row with what it gives alone."""
    got = run(subject, call)
    for b, tokens in each_document(case, call.config.packing):
        want = run(subject, alone(call, case, b, tokens))
        where = f"tokens {tokens.start} … {tokens.stop - 1} of row {b}"
        yield close(got[b : b + 1, tokens], want, f"out of the document {where}{what}, against out of it alone,")


@requirement("PACK-OTHER-1", stimuli.PACKED, any_weights=True)
def another_document_has_no_effect(subject: Subject, case: Case) -> Evidence:
    packing = packing_of(subject)
    call = layer(subject, case, packing)
    x, want = call.inputs["x"], run(subject, call)
    for b, tokens in each_document(case, packing):
        other = 1e2 * case.draw("other documents", *x.shape)
        other = torch.cat([other[:, : tokens.start], x[:, tokens], other[:, tokens.stop :]], dim=1)
        got = run(subject, call, x=other)[b, tokens]
        what = f"out of tokens {tokens.start} … {tokens.stop - 1} of row {b} among other documents ({packing})"
        yield close(got, want[b, tokens], what)


@requirement("PACK-APART-1", stimuli.PACKED, any_weights=True)
def a_document_is_as_alone(subject: Subject, case: Case) -> Evidence:
    packing = packing_of(subject)
    yield from as_apart(subject, case, layer(subject, case, packing), f" ({packing})")


@requirement("PACK-BOTH-1", stimuli.ONE, any_weights=True)
def without_causality_a_document_sees_all_of_itself(subject: Subject, case: Case) -> Evidence:
    packing = packing_of(subject)
    yield from as_apart(subject, case, layer(subject, case, packing, causal=False), f" ({packing}, not causal)")


@requirement("PACK-ROW-1", stimuli.ONE, any_weights=True)
def each_row_has_its_own_documents(subject: Subject, case: Case) -> Evidence:
    call = layer(subject, case, IDS)
    want = run(subject, call)
    for b in range(case.B):
        one = {name: given[b : b + 1] for name, given in call.inputs.items()}
        yield close(run(subject, call, **one), want[b : b + 1], f"out of row {b} alone, against out among other rows,")


@requirement("PACK-ID-1", stimuli.PACKED, any_weights=True)
def the_numbers_of_documents_do_not_matter(subject: Subject, case: Case) -> Evidence:
    call = layer(subject, case, IDS)
    ids, want = call.inputs["documents"], run(subject, call)
    starts = torch.cat([torch.zeros_like(ids[:, :1]), (ids[:, 1:] != ids[:, :-1]).long()], dim=1)
    rising = starts.cumsum(1)
    for other, what in ((rising, "0, 1, …"), (rising + 1, "1, 2, …"), (99 - rising, "99, 98, …")):
        yield close(
            run(subject, call, documents=other), want, f"out with documents numbered {what}, against other ids,"
        )


@requirement("PACK-BOUNDS-1", stimuli.PACKED, any_weights=True)
def bounds_are_where_documents_begin(subject: Subject, case: Case) -> Evidence:
    """The last token of a document sees all of it, and the first of the next nothing of it."""
    call = layer(subject, case, BOUNDS)
    yield from as_apart(subject, case, call, f" ({BOUNDS})")
    x = call.inputs["x"]
    for at in range(1, case.L):
        cut = torch.tensor([0, at, case.L], dtype=torch.int32, device=case.device)
        got = run(subject, call, documents=cut)
        for tokens in (slice(0, at), slice(at, case.L)):
            whole = torch.tensor([0, tokens.stop - tokens.start], dtype=torch.int32, device=case.device)
            want = run(subject, call, x=x[:, tokens], documents=whole)
            yield close(
                got[:, tokens], want, f"out with the bounds 0, {at}, {case.L}, against out of a document alone,"
            )


@requirement("PACK-ROTARY-1", stimuli.PACKED)
def rotation_is_that_of_a_document(subject: Subject, case: Case) -> Evidence:
    packing = packing_of(subject)
    yield from as_apart(subject, case, layer(subject, case, packing, positions="rotary"), f" ({packing}, turned)")


@requirement("PACK-WINDOW-1", stimuli.ONE)
def a_window_ends_with_the_document(subject: Subject, case: Case) -> Evidence:
    packing = packing_of(subject)
    call = changed(layer(subject, case, packing), window=(2, 0))
    yield from as_apart(subject, case, call, f" ({packing}, in a window of 2 keys before the query's own)")


@requirement("PACK-GRAD-1", stimuli.ONE, any_weights=True)
def gradients_are_the_sums_of_those_apart(subject: Subject, case: Case) -> Evidence:
    packing = packing_of(subject)
    call = layer(subject, case, packing)
    wrt, cotangent = ("x", *call.weights), case.draw("cotangent", *call.out_shape)
    got = subject.call(call.asked(cotangent=cotangent, wrt=wrt)).grads
    want = {name: torch.zeros_like(grad) for name, grad in got.items()}
    for b, tokens in each_document(case, packing):
        own = alone(call, case, b, tokens)
        grads = subject.call(own.asked(cotangent=cotangent[b : b + 1, tokens], wrt=wrt)).grads
        want["x"][b : b + 1, tokens] += grads["x"]
        for name in call.weights:
            want[name] += grads[name]
    yield from same_gradients(got, want, f" of packed documents ({packing}), against the sum of those apart,")


@requirement("PACK-ORACLE-1", stimuli.ONE)
def documents_are_those_of_the_formula(subject: Subject, case: Case) -> Evidence:
    right = formula_for(subject)
    packing = packing_of(subject)
    for member in members(subject):
        grouped = member.pop("num_kv_heads", None) is not None
        member |= {"window": (2, 0)} if "window" in member else {}
        inside = {n: x for n, x in member.items() if n in ENTRIES.values()}
        call = changed(layer(subject, case, packing, True, grouped, **inside), **member)
        cotangent = case.draw("cotangent", *call.out_shape)
        got = subject.call(call.asked(cotangent=cotangent, wrt=("x", *call.weights)))
        sums: dict[str, torch.Tensor] = {}
        words = ", ".join(f"{entry} {x}" for entry, x in member.items()) or "nothing"
        for b, tokens in each_document(case, packing):
            own = replace(call, inputs={"query": call.inputs["x"][b : b + 1, tokens]})
            wanted = partial(with_gradients, right, own, cotangent[b : b + 1, tokens])
            want, grads = case.once(f"{right} {call.config} {b} {tokens}", wanted)
            yield close(
                got.out[b : b + 1, tokens], want, f"out of a document with {words} inside, against the formula,"
            )
            for name, grad in grads.items():
                sums[name] = sums.get(name, 0) + grad if name != "query" else grad
        sums.pop("query", None)
        yield from same_gradients(got.grads, sums, f" with {words} inside, against that of the formula,")
