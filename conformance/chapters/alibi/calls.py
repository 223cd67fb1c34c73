"""The calls of ALiBi that the laws of every call are judged with."""

from collections.abc import Iterator

from attnconf.conformance.chapters.alibi import stimuli
from attnconf.conformance.chapters.alibi.checks import attending, bias_call, tokens
from attnconf.conformance.chapters.calls.stimuli import Trial, Trials
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def bias(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(bias_call(subject, case, case.S, case.S))


def attention(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(attending(subject, *tokens(case, case.S, case.B)))


CALLS = {
    "alibi": {
        "CALL-SHAPE-1": Trials(bias, (stimuli.USUAL, stimuli.EDGES)),
    },
    "alibi_attention": {
        "CALL-SHAPE-1": Trials(attention, (stimuli.USUAL, stimuli.EDGES)),
    },
}
