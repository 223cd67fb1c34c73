"""The calls of Fourier features that the laws of every call are judged with."""

from collections.abc import Iterator

from attnconf.conformance.chapters.calls.stimuli import Trial, Trials, in_dtypes
from attnconf.conformance.chapters.fourier import stimuli
from attnconf.conformance.chapters.fourier.checks import bank, call_on, points, random_call
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def fourier(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(call_on(subject, points(case), bank(case)))


def third(subject: Subject, case: Case) -> Iterator[Trial]:
    trial, other = Trial(call_on(subject, points(case), bank(case))), {"x": points(case, "other")}
    yield trial.after(other, other, what="the third call")


def random_fourier(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(random_call(subject, case, points(case)), how={"seed": 1})


CALLS = {
    "fourier": {
        "CALL-SHAPE-1": Trials(fourier, (stimuli.USUAL,)),
        "CALL-DTYPE-1": Trials(in_dtypes(fourier), (stimuli.USUAL,)),
        "CALL-IMMUT-1": Trials(third, (stimuli.USUAL,)),
        "CALL-REPEAT-1": Trials(third, (stimuli.USUAL,)),
    },
    "random_fourier": {
        "CALL-SHAPE-1": Trials(random_fourier, (stimuli.RANDOM,)),
    },
}
