"""The calls of relative position biases that the laws of every call are judged with."""

from collections.abc import Iterator

from torch import Tensor

from attnconf.conformance.chapters.calls.stimuli import Trial, Trials
from attnconf.conformance.chapters.relative_bias import stimuli
from attnconf.conformance.chapters.relative_bias.checks import SIZES, attending, bias_call, tokens
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def table_of(case: Case) -> Tensor:
    return case.draw("table", SIZES[0], case.H)


def bias(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(bias_call(subject, table_of(case), case.S, case.S))


def attention(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(attending(subject, *tokens(case, case.S, case.B), table_of(case)))


CALLS = {
    "relative_bias": {
        "CALL-SHAPE-1": Trials(bias, (stimuli.USUAL, stimuli.EDGES)),
    },
    "relative_bias_attention": {
        "CALL-SHAPE-1": Trials(attention, (stimuli.USUAL, stimuli.EDGES)),
    },
}
