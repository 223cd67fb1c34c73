"""The calls of attention that the laws of every call are judged with, through whatever lens."""

from collections.abc import Iterator

from attnconf.conformance.chapters.attention import stimuli
from attnconf.conformance.chapters.calls.stimuli import Trial, Trials
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def attention(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(subject.attending(case.q, case.k, case.v))


CALLS = {
    "attention": {
        "CALL-SHAPE-1": Trials(attention, (stimuli.DISTINCT, stimuli.EDGES)),
    },
}
