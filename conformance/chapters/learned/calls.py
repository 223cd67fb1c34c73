"""The calls of learned positions that the laws of every call are judged with."""

from collections.abc import Iterator

from attnconf.conformance.chapters.calls.stimuli import Trial, Trials
from attnconf.conformance.chapters.learned import stimuli
from attnconf.conformance.chapters.learned.checks import call_on, random
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def learned(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(call_on(subject, case, random(case)))


CALLS = {
    "learned": {
        "CALL-SHAPE-1": Trials(learned, (stimuli.USUAL, stimuli.EDGES, stimuli.BATCHES), any_weights=True),
    },
}
