"""The calls of the coordinate network that the laws of every call are judged with."""

from collections.abc import Iterator

from attnconf.conformance.chapters.calls.stimuli import Trial, Trials, in_modes, laid_out, of_dtypes, without_samples
from attnconf.conformance.chapters.coordinate_mlp import stimuli
from attnconf.conformance.chapters.coordinate_mlp.checks import call_on, draw_layers, low_points, sizes
from attnconf.conformance.chapters.fourier.checks import points
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def network(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(call_on(subject, case, low_points(subject, case), draw_layers(case, sizes(subject, case))))


def third(subject: Subject, case: Case) -> Iterator[Trial]:
    other = {"x": points(case, "other")}
    for trial in network(subject, case):
        yield trial.after(other, other, what="the third call")


CALLS = {
    "coordinate_mlp": {
        "CALL-SHAPE-1": Trials(network, (stimuli.USUAL,)),
        **of_dtypes(network, stimuli.USUAL[:1]),
        "CALL-EMPTY-1": Trials(without_samples(network), (stimuli.USUAL[:1],)),
        "CALL-LAYOUT-1": Trials(laid_out(network), (stimuli.USUAL[:1],)),
        "CALL-MODE-1": Trials(in_modes(network), (stimuli.USUAL[:1],)),
        "CALL-IMMUT-1": Trials(third, (stimuli.USUAL,)),
        "CALL-REPEAT-1": Trials(third, (stimuli.USUAL,)),
    },
}
