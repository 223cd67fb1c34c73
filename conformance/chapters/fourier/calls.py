"""The calls of Fourier features that the laws of every call are judged with."""

from collections.abc import Iterator

from attnconf.conformance.chapters.calls.stimuli import (
    FULL,
    HALF,
    Trial,
    Trials,
    in_dtypes,
    in_modes,
    laid_out,
    of_dtypes,
    without_samples,
)
from attnconf.conformance.chapters.fourier import stimuli
from attnconf.conformance.chapters.fourier.checks import bank, call_on, points, random_call
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def fourier(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(call_on(subject, points(case), bank(subject, case)))


def third(subject: Subject, case: Case) -> Iterator[Trial]:
    trial, other = Trial(call_on(subject, points(case), bank(subject, case))), {"x": points(case, "other")}
    yield trial.after(other, other, what="the third call")


def random_fourier(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(random_call(subject, case, points(case)), how={"seed": 1})


def third_random(subject: Subject, case: Case) -> Iterator[Trial]:
    other = {"x": points(case, "other")}
    for trial in random_fourier(subject, case):
        yield trial.after(other, other, what="the third call")


CALLS = {
    "fourier": {
        "CALL-SHAPE-1": Trials(fourier, (stimuli.USUAL,)),
        **of_dtypes(fourier, stimuli.USUAL),
        "CALL-EMPTY-1": Trials(without_samples(fourier), (stimuli.USUAL[:1],)),
        "CALL-LAYOUT-1": Trials(laid_out(fourier), (stimuli.USUAL[:1],)),
        "CALL-MODE-1": Trials(in_modes(fourier), (stimuli.USUAL[:1],)),
        "CALL-IMMUT-1": Trials(third, (stimuli.USUAL,)),
        "CALL-REPEAT-1": Trials(third, (stimuli.USUAL,)),
    },
    "random_fourier": {
        "CALL-SHAPE-1": Trials(random_fourier, (stimuli.RANDOM,)),
        "CALL-DTYPE-1": Trials(in_dtypes(FULL, random_fourier), (stimuli.RANDOM[:1],)),
        "CALL-DTYPE-2": Trials(in_dtypes(HALF, random_fourier), (stimuli.RANDOM[:1],)),
        "CALL-EMPTY-1": Trials(without_samples(random_fourier), (stimuli.RANDOM[:1],)),
        "CALL-LAYOUT-1": Trials(laid_out(random_fourier), (stimuli.RANDOM[:1],)),
        "CALL-MODE-1": Trials(in_modes(random_fourier), (stimuli.RANDOM[:1],)),
        "CALL-IMMUT-1": Trials(random_fourier, (stimuli.RANDOM[:1],)),
        "CALL-REPEAT-1": Trials(third_random, (stimuli.RANDOM[:1],)),
    },
}
