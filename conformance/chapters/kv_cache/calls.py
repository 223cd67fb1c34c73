"""The calls of attention with a cache that the laws of every call are judged with: a sequence in three chunks."""

from collections.abc import Iterator

from attnconf.conformance.chapters.calls.stimuli import MODES, Trial, Trials, in_modes, laid_out, of_dtypes
from attnconf.conformance.chapters.kv_cache import stimuli
from attnconf.conformance.chapters.kv_cache.stimuli import chunks, layer
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def in_three(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(layer(subject, case).with_inputs(cache=chunks(case.B, (2, 1, case.L - 3))))


def second(subject: Subject, case: Case) -> Iterator[Trial]:
    """Yield a call after others of the same layer: with other tokens, and with the same."""
    for trial in in_three(subject, case):
        given = trial.call.inputs
        other = {**given, "x": case.draw("other", *given["x"].shape)}
        yield trial.after(other, what="after another sequence")
        yield trial.after(given, given, what="the third call")


def of_no_samples(subject: Subject, case: Case) -> Iterator[Trial]:
    call = layer(subject, case)
    none = call.with_inputs(x=call.inputs["x"][:0], cache=chunks(0, (2, case.L - 2)))
    yield Trial(none, what="an empty batch")


CALLS = {
    "cached_attention": {
        "CALL-SHAPE-1": Trials(in_three, (stimuli.STEPS, stimuli.ONE_SAMPLE)),
        **of_dtypes(in_three, stimuli.ONE, half=()),
        "CALL-EMPTY-1": Trials(of_no_samples, (stimuli.ONE,)),
        "CALL-LAYOUT-1": Trials(laid_out(in_three), (stimuli.ONE,)),
        "CALL-MODE-1": Trials(in_modes(in_three, MODES), (stimuli.ONE,)),
        "CALL-IMMUT-1": Trials(in_three, (stimuli.ONE,)),
        "CALL-REPEAT-1": Trials(second, (stimuli.ONE,)),
    },
}
