"""The calls of multi-head attention that the laws of every call are judged with: those of attention, and its own."""

from collections.abc import Iterator

from attnconf.conformance.chapters.attention import calls as of_attention
from attnconf.conformance.chapters.calls.stimuli import FULL, Draw, Trial, Trials, in_dtypes
from attnconf.conformance.chapters.multi_head_attention.stimuli import LAYER, as_declared, draw_layer, draw_self
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def third(subject: Subject, case: Case) -> Iterator[Trial]:
    """Yield a call with real projections after two with the same inputs: cross-attention, where the lens places any."""
    layer = as_declared(subject, draw_layer(case) if subject.lens == "heads" else draw_self(case))
    yield Trial(layer).after(layer.inputs, layer.inputs, what="the third call")


def with_layers(law: str, layers: Draw = third) -> Trials:
    """Return what attention is judged with, and layers with real projections, each by their own cases."""
    attention = of_attention.CALLS["attention"][law]

    def draw(subject: Subject, case: Case) -> Iterator[Trial]:
        own = layers if case.shape is LAYER[0].shape else attention.draw
        yield from own(subject, case)

    return Trials(draw, (*attention.families, LAYER))


CALLS = {
    "multi_head_attention": {
        **of_attention.CALLS["attention"],
        "CALL-FLOAT-1": with_layers("CALL-FLOAT-1", in_dtypes(FULL, third)),
        "CALL-IMMUT-1": with_layers("CALL-IMMUT-1"),
        "CALL-REPEAT-1": with_layers("CALL-REPEAT-1"),
    },
}
