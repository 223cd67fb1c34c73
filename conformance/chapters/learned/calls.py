"""The calls of learned positions that the laws of every call are judged with."""

from collections.abc import Iterator

from attnconf.conformance.chapters.calls.stimuli import (
    Trial,
    Trials,
    in_modes,
    laid_out,
    of_dtypes,
    without_samples,
)
from attnconf.conformance.chapters.learned import stimuli
from attnconf.conformance.chapters.learned.checks import call_on, random, zeros
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def learned(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(call_on(subject, case, random(case)))


def after_others(subject: Subject, case: Case) -> Iterator[Trial]:
    trial = Trial(call_on(subject, case, zeros(case)))
    for what, length in (("as long", case.L), ("longer", case.L + 2), ("shorter", max(1, case.L - 4))):
        earlier = case.draw(f"{what} x", case.B, length, case.features)
        yield trial.after({"x": earlier}, what=f"after a call with an input that is {what}")


CALLS = {
    "learned": {
        "CALL-SHAPE-1": Trials(learned, (stimuli.USUAL, stimuli.EDGES, stimuli.BATCHES)),
        **of_dtypes(learned, stimuli.ONE),
        "CALL-EMPTY-1": Trials(without_samples(learned), (stimuli.ONE,)),
        "CALL-LAYOUT-1": Trials(laid_out(learned), (stimuli.ONE,)),
        "CALL-MODE-1": Trials(in_modes(learned), (stimuli.ONE,)),
        "CALL-IMMUT-1": Trials(learned, (stimuli.ONE,)),
        "CALL-REPEAT-1": Trials(after_others, (stimuli.ONE,)),
    },
}
