"""The calls of sinusoidal positions that the laws of every call are judged with."""

from collections.abc import Iterator

from attnconf.conformance.chapters.calls.stimuli import (
    Trial,
    Trials,
    in_modes,
    laid_out,
    of_dtypes,
    without_samples,
)
from attnconf.conformance.chapters.sinusoidal import stimuli
from attnconf.conformance.chapters.sinusoidal.stimuli import call_on, grid_call, zeros
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def sequence(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(call_on(subject, case, case.draw("x", case.B, case.L, case.features)))


def of_zeros(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(call_on(subject, case, zeros(case)))


def after_others(subject: Subject, case: Case) -> Iterator[Trial]:
    trial = Trial(call_on(subject, case, zeros(case)))
    for what, length in (("as long", case.L), ("longer", case.L + 4), ("shorter", max(1, case.L - 4))):
        earlier = case.draw(f"{what} x", case.B, length, case.features)
        yield trial.after({"x": earlier}, what=f"after a call with an input that is {what}")


def grid(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(grid_call(subject, case))


def after_other_grids(subject: Subject, case: Case) -> Iterator[Trial]:
    trial = Trial(grid_call(subject, case))
    for rows, columns in ((case.columns, case.rows), (case.rows, case.columns), (case.rows + 4, case.columns + 1)):
        yield trial.after({"height": rows, "width": columns}, what=f"after a grid of {rows} by {columns}")


CALLS = {
    "sinusoidal": {
        "CALL-SHAPE-1": Trials(sequence, (stimuli.USUAL, stimuli.EDGES, stimuli.BATCHES)),
        **of_dtypes(of_zeros, stimuli.ONE),
        "CALL-EMPTY-1": Trials(without_samples(sequence), (stimuli.ONE,)),
        "CALL-LAYOUT-1": Trials(laid_out(sequence), (stimuli.ONE,)),
        "CALL-MODE-1": Trials(in_modes(sequence), (stimuli.ONE,)),
        "CALL-IMMUT-1": Trials(sequence, (stimuli.ONE,)),
        "CALL-REPEAT-1": Trials(after_others, (stimuli.ONE,)),
    },
    "sinusoidal_2d": {
        "CALL-SHAPE-1": Trials(grid, (stimuli.GRID, stimuli.GRID_EDGES)),
        **of_dtypes(grid, stimuli.GRID_ONE),
        "CALL-MODE-1": Trials(in_modes(grid), (stimuli.GRID_ONE,)),
        "CALL-REPEAT-1": Trials(after_other_grids, (stimuli.GRID_ONE,)),
    },
}
