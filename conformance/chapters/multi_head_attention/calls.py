"""The calls of multi-head attention that the laws of every call are judged with: those of attention, and its own."""

from collections.abc import Iterator

from attnconf.conformance.chapters.attention import calls as of_attention
from attnconf.conformance.chapters.calls.stimuli import FULL, Draw, Trial, Trials, in_dtypes
from attnconf.conformance.chapters.multi_head_attention.stimuli import (
    LAYER,
    ONE_SAMPLE,
    as_declared,
    draw_layer,
    draw_self,
)
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def once(subject: Subject, case: Case) -> Iterator[Trial]:
    """Yield a call with real projections: cross-attention, where the lens places any."""
    yield Trial(as_declared(subject, draw_layer(case) if subject.lens == "heads" else draw_self(case), case))


def third(subject: Subject, case: Case) -> Iterator[Trial]:
    """Yield such a call after two with the same inputs."""
    for one in once(subject, case):
        yield one.after(one.call.inputs, one.call.inputs, what="the third call")


def with_layers(law: str, layers: Draw = third, cases: tuple[Case, ...] = LAYER) -> Trials:
    """Return what attention is judged with, and layers with real projections, each by their own cases."""
    attention = of_attention.CALLS["attention"][law]

    def draw(subject: Subject, case: Case) -> Iterator[Trial]:
        own = layers if case.shape is LAYER[0].shape else attention.draw
        yield from own(subject, case)

    return Trials(draw, (*attention.families, cases))


CALLS = {
    "multi_head_attention": {
        **of_attention.CALLS["attention"],
        # a lens may give each query a sequence of its own: there is no batch of one then
        "CALL-SHAPE-1": with_layers("CALL-SHAPE-1", once, ONE_SAMPLE),
        "CALL-FLOAT-1": with_layers("CALL-FLOAT-1", in_dtypes(FULL, third)),
        "CALL-IMMUT-1": with_layers("CALL-IMMUT-1"),
        "CALL-REPEAT-1": with_layers("CALL-REPEAT-1"),
    },
}
