"""The calls of the feed-forward network that the laws of every call are judged with."""

from collections.abc import Iterator

from attnconf.conformance.chapters.calls.stimuli import Trial, Trials
from attnconf.conformance.chapters.feed_forward import stimuli
from attnconf.conformance.chapters.feed_forward.checks import tokens, usual_call
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def network(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(usual_call(subject, case, tokens(case)))


CALLS = {
    "feed_forward": {
        "CALL-SHAPE-1": Trials(network, (stimuli.USUAL, stimuli.EDGES), any_weights=True),
    },
}
