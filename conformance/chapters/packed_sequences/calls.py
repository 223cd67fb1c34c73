"""The calls of packed sequences that the laws of every call are judged with."""

from collections.abc import Iterator

from attnconf.conformance.chapters.calls.stimuli import MODES, Trial, Trials, in_modes, laid_out, of_dtypes
from attnconf.conformance.chapters.packed_sequences import stimuli
from attnconf.conformance.chapters.packed_sequences.stimuli import layer, packing_of
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def packed(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(layer(subject, case, packing_of(subject)))


def second(subject: Subject, case: Case) -> Iterator[Trial]:
    """Yield a call after others of the same layer: with other tokens, and with the same."""
    for trial in packed(subject, case):
        given = trial.call.inputs
        other = {**given, "x": case.draw("other", *given["x"].shape)}
        yield trial.after(other, what="after other tokens")
        yield trial.after(given, given, what="the third call")


CALLS = {
    "packed_attention": {
        "CALL-SHAPE-1": Trials(packed, (stimuli.PACKED, stimuli.ONE_ROW)),
        **of_dtypes(packed, stimuli.ONE, half=()),
        "CALL-LAYOUT-1": Trials(laid_out(packed), (stimuli.ONE,)),
        "CALL-MODE-1": Trials(in_modes(packed, MODES), (stimuli.ONE,)),
        "CALL-IMMUT-1": Trials(packed, (stimuli.ONE,)),
        "CALL-REPEAT-1": Trials(second, (stimuli.ONE,)),
    },
}
