"""Checks of the chapter spec/calls.md: laws of every call, judged with the calls that each chapter gives."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.chapters import contents
from attnconf.conformance.chapters.calls.stimuli import Trial
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import SINGLE, SINGLE_SOURCE, Failure, Measure, close, holds
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.worker.handing_over import same_values
from attnconf.conformance.worker.performing import CUT

Evidence = Iterator[Measure]


def trials(law: str, subject: Subject, case: Case) -> Iterator[Trial]:
    """Yield the calls with which a law is judged on the component of a subject."""
    yield from contents.calls()[subject.component][law].draw(subject, case)


def answer(subject: Subject, trial: Trial, **how: Any) -> Tensor | None:
    """Return the output of a call; None where it raises an error, and the trial allows that."""
    try:
        return subject.call(trial.asked(**how)).out
    except Failure as failure:
        if not trial.or_raises or failure.reason != "raised":
            raise
        return None


def right_shapes(law: str, subject: Subject, case: Case) -> Evidence:
    for trial in trials(law, subject, case):
        got, want = tuple(subject.call(trial.asked()).out.shape), trial.call.out_shape
        yield holds(got == want, trial.told(f"out has shape {got}, want {want}"), "shape")


@requirement("CALL-SHAPE-1", any_weights=True)
def the_output_has_the_shape_that_the_page_gives(subject: Subject, case: Case) -> Evidence:
    yield from right_shapes("CALL-SHAPE-1", subject, case)


def right_dtypes(law: str, subject: Subject, case: Case) -> Evidence:
    for trial in trials(law, subject, case):
        if trial.dtype == torch.float64 and subject.choice("norm-dtype") == "float32":
            continue
        out = answer(subject, trial)
        got = trial.dtype if out is None else out.dtype
        yield holds(got == trial.dtype, trial.told(f"out is {got} where all that goes in is {trial.dtype}"), "dtype")


@requirement("CALL-DTYPE-1", any_weights=True)
def the_output_has_the_dtype_of_what_it_is_made_of(subject: Subject, case: Case) -> Evidence:
    yield from right_dtypes("CALL-DTYPE-1", subject, case)


@requirement("CALL-DTYPE-2", any_weights=True)
def the_output_has_the_dtype_of_half_precision(subject: Subject, case: Case) -> Evidence:
    yield from right_dtypes("CALL-DTYPE-2", subject, case)


@requirement("CALL-FLOAT-1")
def float32_gives_what_float64_gives(subject: Subject, case: Case) -> Evidence:
    double = None
    for trial in trials("CALL-FLOAT-1", subject, case):
        if double is None:
            double = trial.call
            continue
        single, double = trial.call, as_rounded(double, trial.call)
        cotangent = case.draw("cotangent", *single.out_shape)
        want, slopes = with_slopes(subject, trial, double, cotangent)
        got, grads = with_slopes(subject, trial, single, cotangent.float())
        yield alike_in_float32(got, want, trial.told("out in float32, against out in float64,"))
        unit = max((float(slope.abs().max()) for slope in slopes.values()), default=0.0)
        for name, slope in slopes.items():
            if not slope.isfinite().all():  # in float64: no matter of float32
                continue
            what = trial.told(f"gradient of {name} in float32, against that in float64,")
            yield holds(name in grads, trial.told("out carries no gradient in float32, as it does in float64"))
            yield alike_in_float32(grads[name], slope, what, max(float(slope.abs().max()), 0.01 * unit))
        double = None


def as_rounded(double: Call, single: Call) -> Call:
    """Return a call in float64 with the inputs and weights of the same call in float32, rounded as they are there."""
    inputs, weights = ({name: widened(x) for name, x in held.items()} for held in (single.inputs, single.weights))
    return replace(double, inputs=inputs, weights=weights)


def widened(x: Any) -> Any:
    return x.double() if isinstance(x, Tensor) and x.is_floating_point() else x


def with_slopes(subject: Subject, trial: Trial, call: Call, cotangent: Tensor) -> tuple[Tensor, Mapping[str, Tensor]]:
    """Return the output of a call, and its gradients by name; none where no gradient flows at all."""
    held = {**call.weights, **call.inputs}
    wrt = tuple(name for name, x in held.items() if isinstance(x, Tensor) and x.is_floating_point())
    try:
        reply = subject.call(call.asked(**trial.how, cotangent=cotangent if wrt else None, wrt=wrt))
    except Failure as failure:
        if failure.message != CUT:
            raise
        return subject.call(call.asked(**trial.how)).out, {}
    return reply.out, reply.grads


def alike_in_float32(got: Tensor, want: Tensor, what: str, unit: float | None = None) -> Measure:
    return close(got, want, what, bound=1e-4, source="1e-4·max|want|: 800 roundings of float32", unit=unit)


@requirement("CALL-EMPTY-1", any_weights=True)
def nothing_gives_an_empty_output(subject: Subject, case: Case) -> Evidence:
    yield from right_shapes("CALL-EMPTY-1", subject, case)


@requirement("CALL-IMMUT-1", any_weights=True)
def inputs_and_weights_are_left_as_they_were(subject: Subject, case: Case) -> Evidence:
    for dtype in (torch.float64, torch.float32):  # what converts its input has the caller's own where none is needed
        for trial in trials("CALL-IMMUT-1", subject, case.but(dtype=dtype)):
            for mode in ("plain", "no_grad"):
                changed = subject.call(trial.asked(mode=mode, before=trial.before)).changed
                told = f"in {str(dtype).removeprefix('torch.')} modified in place: {', '.join(changed)}"
                yield holds(not changed, trial.told(told))


@requirement("CALL-REPEAT-1", any_weights=True)
def a_call_does_not_depend_on_earlier_ones(subject: Subject, case: Case) -> Evidence:
    wanted: tuple[Call, Tensor] | None = None
    for trial in trials("CALL-REPEAT-1", subject, case):
        if wanted is None or wanted[0] is not trial.call:  # several trials of one call follow one another
            wanted = trial.call, subject.call(trial.asked()).out
        got = subject.call(trial.asked(before=trial.before)).out
        yield same(subject, trial, trial.call.read(got), trial.call.read(wanted[1]))


def same(subject: Subject, trial: Trial, got: Tensor, want: Tensor) -> Measure:
    """Return the measure of an output after earlier calls against the output without them."""
    if COMPONENTS[subject.component].returns != "tensor":  # ids, texts or merges as numbers
        return holds(same_values(got, want), trial.told("another output than without earlier calls"), "value")
    if trial.undefined and same_values(got, want):
        return Measure()
    what = trial.told("out after earlier calls, against out without,")
    return close(got, want, what, bound=0.0, source="exact") if trial.exact else close(got, want, what)


@requirement("CALL-LAYOUT-1", any_weights=True)
def the_layout_in_memory_does_not_matter(subject: Subject, case: Case) -> Evidence:
    for trial in trials("CALL-LAYOUT-1", subject, case):
        want = subject.call(trial.asked()).out
        for layout in trial.layouts:
            got = answer(subject, trial, layout=layout)
            yield alike(
                trial, want if got is None else got, want, f"out of {layout} inputs, against out of contiguous ones,"
            )


@requirement("CALL-MODE-1", any_weights=True)
def the_mode_does_not_matter(subject: Subject, case: Case) -> Evidence:
    for trial in trials("CALL-MODE-1", subject, case):
        want = subject.call(trial.asked()).out
        for training, autograd in trial.modes:
            got = subject.call(trial.in_mode((training, autograd))).out
            where = "training" if training else "evaluation"
            yield alike(trial, got, want, f"out in {where}, {autograd}, against out in evaluation,")


def alike(trial: Trial, got: Tensor, want: Tensor, what: str) -> Measure:
    """Return the measure of the output of a call that is made in another way, against the first output."""
    got, want, what = trial.call.read(got), trial.call.read(want), trial.told(what)
    return close(got, want, what, bound=SINGLE, source=SINGLE_SOURCE) if trial.single else close(got, want, what)
