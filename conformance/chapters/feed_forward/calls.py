"""The calls of the feed-forward network that the laws of every call are judged with."""

from collections.abc import Iterator

from attnconf.conformance.chapters.calls.stimuli import (
    Trial,
    Trials,
    in_modes,
    laid_out,
    of_dtypes,
    without_samples,
)
from attnconf.conformance.chapters.feed_forward import stimuli
from attnconf.conformance.chapters.feed_forward.checks import tokens, usual_call
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def network(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(usual_call(subject, case, tokens(case)))


def after_others(subject: Subject, case: Case) -> Iterator[Trial]:
    trial = Trial(usual_call(subject, case, tokens(case)))
    for what, length in (("as long", case.L), ("longer", case.L + 4), ("shorter", max(1, case.L - 3))):
        earlier = case.draw(f"{what} x", case.B, length, case.width)
        yield trial.after({"x": earlier}, what=f"after a call with an input that is {what}")


CALLS = {
    "feed_forward": {
        "CALL-SHAPE-1": Trials(network, (stimuli.USUAL, stimuli.EDGES)),
        **of_dtypes(network, stimuli.ONE),
        "CALL-EMPTY-1": Trials(without_samples(network), (stimuli.ONE,)),
        "CALL-LAYOUT-1": Trials(laid_out(network), (stimuli.ONE,)),
        "CALL-MODE-1": Trials(in_modes(network), (stimuli.ONE,)),
        "CALL-IMMUT-1": Trials(network, (stimuli.ONE,)),
        "CALL-REPEAT-1": Trials(after_others, (stimuli.ONE,)),
    },
}
