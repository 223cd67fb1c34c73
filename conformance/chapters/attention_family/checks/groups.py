"""Checks of the chapter spec/attention_family.md: heads of keys and values that several heads of queries share."""

from collections.abc import Iterator
from typing import Any

from attnconf.conformance.chapters.attention_family import stimuli
from attnconf.conformance.chapters.attention_family.stimuli import alike, grouped, repeated, rows_of, summed
from attnconf.conformance.chapters.multi_head_attention.stimuli import run
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Failure, Measure, close
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject

Evidence = Iterator[Measure]
SHIFTS = ("k.bias", "k_norm.bias")  # of all keys alike, which has no effect


@requirement("FAM-GROUP-1", stimuli.GROUPED, stimuli.ONE_SHARED)
def neighbouring_heads_share_their_keys(subject: Subject, case: Case) -> Evidence:
    layer = alike(grouped(subject, case), "v")
    want = run(subject, repeated(layer)).out
    yield close(run(subject, layer).out, want, "out with shared keys, against keys of each head's own that are equal,")


@requirement("FAM-GROUP-2", stimuli.GROUPED, stimuli.ONE_SHARED)
def neighbouring_heads_share_their_values(subject: Subject, case: Case) -> Evidence:
    layer = alike(grouped(subject, case), "k")
    want = run(subject, repeated(layer)).out
    what = "out with shared values, against values of each head's own that are equal,"
    yield close(run(subject, layer).out, want, what)


@requirement("FAM-GROUP-3", stimuli.GROUPED_ONCE)
def gradients_of_shared_heads_add_up(subject: Subject, case: Case) -> Evidence:
    layer = grouped(subject, case)
    names = tuple(name for name in rows_of(layer, "kv") if name not in SHIFTS)
    asked: dict[str, Any] = {"cotangent": case.draw("cotangent", case.B, case.L, case.embed), "wrt": names}
    own, apart = run(subject, layer, **asked).grads, run(subject, repeated(layer), **asked).grads
    for name in names:
        want = summed(apart[name], case.K, case.G)
        yield close(own[name], want, f"gradient of {name}, against the sum over the heads that share it,")


@requirement("FAM-GROUP-4", stimuli.GROUPED_ONCE)
def heads_that_cannot_share_evenly_are_refused(subject: Subject, case: Case) -> Evidence:
    layer, heads = grouped(subject, case), case.H - 1
    uneven = {name: w[: heads * case.E] for name, w in rows_of(repeated(layer), "kv").items()}
    try:
        run(subject, layer.with_weights(uneven).with_config(num_kv_heads=heads))
    except Failure as failure:
        if failure.reason == "raised":
            yield Measure()
            return
    raise Failure("property", f"{case.H} heads that share {heads}: no error was raised")
