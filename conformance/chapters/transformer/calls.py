"""The calls of encoder and decoder together that the laws of every call are judged with."""

from collections.abc import Iterator

from attnconf.conformance.chapters.calls.stimuli import Trial, Trials
from attnconf.conformance.chapters.transformer import stimuli
from attnconf.conformance.chapters.transformer.stimuli import model
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def transformer(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(model(subject, case))


LAWS = {
    "CALL-SHAPE-1": Trials(transformer, (stimuli.USUAL, stimuli.EDGES)),
}
CALLS = {"encoder_decoder": LAWS, "transformer": LAWS}
