"""The calls of sinusoidal positions that the laws of every call are judged with."""

from collections.abc import Iterator

from attnconf.conformance.chapters.calls.stimuli import Trial, Trials
from attnconf.conformance.chapters.sinusoidal import stimuli
from attnconf.conformance.chapters.sinusoidal.stimuli import call_on, grid_call
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def sequence(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(call_on(subject, case, case.draw("x", case.B, case.L, case.features)))


def grid(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(grid_call(subject, case))


CALLS = {
    "sinusoidal": {
        "CALL-SHAPE-1": Trials(sequence, (stimuli.USUAL, stimuli.EDGES, stimuli.BATCHES)),
    },
    "sinusoidal_2d": {
        "CALL-SHAPE-1": Trials(grid, (stimuli.GRID, stimuli.GRID_EDGES)),
    },
}
