"""The calls of rotary positions that the laws of every call are judged with."""

from collections.abc import Iterator

from attnconf.conformance.chapters.calls.stimuli import LAYOUTS, Trial, Trials, in_modes, of_dtypes, without_samples
from attnconf.conformance.chapters.rotary import stimuli
from attnconf.conformance.chapters.rotary.stimuli import call_on, drawn
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def rotary(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(call_on(subject, case, drawn(case)))


def twice(subject: Subject, case: Case) -> Iterator[Trial]:
    call = call_on(subject, case, drawn(case))
    yield Trial(call, exact=True).after(call.inputs, what="the second call")


def laid_out_or_refused(subject: Subject, case: Case) -> Iterator[Trial]:
    """Yield calls that may raise an error instead: ``view_as_complex`` does, where features are no neighbours."""
    yield Trial(call_on(subject, case, drawn(case)), layouts=LAYOUTS, or_raises=True)
    one = drawn(case)[:1].expand(case.B, -1, -1, -1).contiguous()
    yield Trial(call_on(subject, case, one), layouts=("expanded",), or_raises=True)


LAWS = {
    "CALL-SHAPE-1": Trials(rotary, (stimuli.USUAL, stimuli.SINGLE)),
    **of_dtypes(rotary, stimuli.ONE),
    "CALL-EMPTY-1": Trials(without_samples(rotary), (stimuli.ONE,)),
    "CALL-LAYOUT-1": Trials(laid_out_or_refused, (stimuli.ONE,)),
    "CALL-MODE-1": Trials(in_modes(rotary), (stimuli.ONE,)),
    "CALL-IMMUT-1": Trials(rotary, (stimuli.ONE,)),
    "CALL-REPEAT-1": Trials(twice, (stimuli.ONE,)),
}
CALLS = {"rotary": LAWS, "rotary_attention": LAWS}
