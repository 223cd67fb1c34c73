"""Checks of the chapter spec/attention_family.md: norms of queries and keys."""

from collections.abc import Iterator
from itertools import product

from torch import Tensor

from attnconf.conformance.chapters.attention_family.checks.shared import Evidence, having, kinds
from attnconf.conformance.chapters.multi_head_attention import stimuli
from attnconf.conformance.chapters.multi_head_attention.checks.shared import SINGLE, SINGLE_SOURCE
from attnconf.conformance.chapters.multi_head_attention.stimuli import run
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import close, holds
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject

LONGER = 3.0


def normalizing(subject: Subject, case: Case) -> Iterator[tuple[str, str, Call]]:
    """Yield (kind, over what, layer) for each norm that the subject is asked for."""
    for kind, over in product(kinds(subject, "qk-norm"), kinds(subject, "qk-norm-over")):
        yield kind, over, having(subject, case, qk_norm=kind, qk_norm_over=over)


def times(layer: Call, name: str, factor: float, rows: slice = slice(None)) -> dict[str, Tensor]:
    """Return a projection's weight and bias with some of their rows multiplied."""
    longer = {n: w.clone() for n, w in layer.weights.items() if n in (f"{name}.weight", f"{name}.bias")}
    for w in longer.values():
        w[rows] *= factor
    return longer


@requirement("FAM-NORM-1", stimuli.LAYER)
def the_length_of_queries_and_keys_does_not_matter(subject: Subject, case: Case) -> Evidence:
    for kind, over, layer in normalizing(subject, case):
        want = run(subject, layer).out
        for name in ("q", "k"):
            got = run(subject, layer.with_weights(times(layer, name, LONGER))).out
            what = f"out with {LONGER:g} times {name}.weight and a {kind} norm over the {over}"
            yield close(got, want, what, bound=SINGLE, source=SINGLE_SOURCE)


@requirement("FAM-NORM-2", stimuli.LAYER)
def both_gains_multiply_the_scores(subject: Subject, case: Case) -> Evidence:
    for kind, over, layer in normalizing(subject, case):
        layer = layer.with_weights({n: 0 * w for n, w in layer.weights.items() if n == "relative_keys.weight"})
        plain = run(subject, layer).out
        of_queries, of_keys = (
            run(subject, layer.with_weights(times(layer, f"{name}_norm", 2.0))).out for name in ("q", "k")
        )
        yield close(of_queries, of_keys, f"out with twice the gain of queries, against twice that of keys ({kind})")
        moved = float((of_queries - plain).abs().max())
        yield holds(
            moved > 1e-3 * float(plain.abs().max()), f"the gains of queries and keys have no effect ({kind}, {over})"
        )


@requirement("FAM-NORM-3", stimuli.LAYER)
def a_norm_is_over_what_it_is_declared_to_be_over(subject: Subject, case: Case) -> Evidence:
    for kind, over, layer in normalizing(subject, case):
        want = run(subject, layer).out
        got = run(subject, layer.with_weights(times(layer, "k", LONGER, slice(case.E)))).out
        if over == "head":
            what = f"out with {LONGER:g} times the keys of head 0 and a {kind} norm of each head"
            yield close(got, want, what, bound=SINGLE, source=SINGLE_SOURCE)
        else:
            moved = float((got - want).abs().max())
            said = f"longer keys of head 0 make no difference to a {kind} norm of all heads together"
            yield holds(moved > 1e-3 * float(want.abs().max()), said)


@requirement("FAM-NORM-4", stimuli.LAYER)
def values_keep_their_length(subject: Subject, case: Case) -> Evidence:
    for kind, over, layer in normalizing(subject, case):
        added = ("out.bias", "relative_values.weight")
        layer = layer.with_weights({n: 0 * w for n, w in layer.weights.items() if n in added})
        want = LONGER * run(subject, layer).out
        got = run(subject, layer.with_weights(times(layer, "v", LONGER))).out
        yield close(got, want, f"out with {LONGER:g} times v.weight and a {kind} norm over the {over}")
