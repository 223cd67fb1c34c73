"""The calls of root mean square normalization that the laws of every call are judged with."""

from collections.abc import Iterator

from attnconf.conformance.chapters.calls.stimuli import Trial, Trials
from attnconf.conformance.chapters.rms_norm import stimuli
from attnconf.conformance.chapters.shared.norms import plain_call, tokens
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def norm(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(plain_call(subject, tokens(case)))


CALLS = {
    "rms_norm": {
        "CALL-SHAPE-1": Trials(norm, (stimuli.ONE, stimuli.EDGES, stimuli.NARROW), any_weights=True),
    },
}
