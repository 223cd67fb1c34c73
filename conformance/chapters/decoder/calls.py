"""The calls of decoder layers and stacks that the laws of every call are judged with."""

from collections.abc import Iterator

from attnconf.conformance.chapters.calls.stimuli import Trial, Trials
from attnconf.conformance.chapters.decoder import stimuli
from attnconf.conformance.chapters.decoder.checks import blocks, order_of
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def decoders(subject: Subject, case: Case) -> Iterator[Trial]:
    for block in blocks(subject, case):
        yield Trial(block, order_of(block))


def first_order(subject: Subject, case: Case) -> Iterator[Trial]:
    yield next(decoders(subject, case))


LAWS = {
    "CALL-SHAPE-1": Trials(first_order, (stimuli.EDGES,)),
}
CALLS = {"decoder_layer": LAWS, "decoder": LAWS}
