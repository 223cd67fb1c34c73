"""The calls of encoder layers and stacks that the laws of every call are judged with."""

from collections.abc import Iterator

from attnconf.conformance.chapters.calls.stimuli import Trial, Trials
from attnconf.conformance.chapters.encoder import stimuli
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def one_layer(subject: Subject, case: Case) -> Iterator[Trial]:
    for order, block in stimuli.each(subject, case):
        yield Trial(block, order)


LAWS = {
    "CALL-SHAPE-1": Trials(one_layer, (stimuli.ONE, stimuli.EDGES)),
}
CALLS = {"encoder_layer": LAWS, "encoder": LAWS}
