"""Checks of the chapter spec/calls.md: laws of every call, judged with the calls that each chapter gives."""

from collections.abc import Iterator

from attnconf.conformance.chapters import contents
from attnconf.conformance.chapters.calls.stimuli import Trial
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Measure, holds
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject

Evidence = Iterator[Measure]


def trials(law: str, subject: Subject, case: Case) -> Iterator[Trial]:
    """Yield the calls with which a law is judged on the component of a subject."""
    yield from contents.calls()[subject.component][law].draw(subject, case)


@requirement("CALL-SHAPE-1")
def the_output_has_the_shape_that_the_page_gives(subject: Subject, case: Case) -> Evidence:
    for trial in trials("CALL-SHAPE-1", subject, case):
        got, want = tuple(subject.call(trial.asked()).out.shape), trial.call.out_shape
        yield holds(got == want, trial.told(f"out has shape {got}, want {want}"), "shape")
