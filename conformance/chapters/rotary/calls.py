"""The calls of rotary positions that the laws of every call are judged with."""

from collections.abc import Iterator

from attnconf.conformance.chapters.calls.stimuli import Trial, Trials, in_dtypes
from attnconf.conformance.chapters.rotary import stimuli
from attnconf.conformance.chapters.rotary.stimuli import call_on, drawn
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def rotary(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(call_on(subject, case, drawn(case)))


def twice(subject: Subject, case: Case) -> Iterator[Trial]:
    call = call_on(subject, case, drawn(case))
    yield Trial(call, exact=True).after(call.inputs, what="the second call")


LAWS = {
    "CALL-SHAPE-1": Trials(rotary, (stimuli.USUAL, stimuli.SINGLE)),
    "CALL-DTYPE-1": Trials(in_dtypes(rotary), (stimuli.ONE,)),
    "CALL-IMMUT-1": Trials(rotary, (stimuli.ONE,)),
    "CALL-REPEAT-1": Trials(twice, (stimuli.ONE,)),
}
CALLS = {"rotary": LAWS, "rotary_attention": LAWS}
