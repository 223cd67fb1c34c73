"""Checks of the chapter spec/rotary.md: what several sections use."""

from collections.abc import Iterator
from typing import Any

from torch import Tensor

from attnconf.conformance.chapters.rotary.stimuli import rotated
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Failure, Measure, Observed, close
from attnconf.conformance.engine.subject import Subject

Evidence = Iterator[Measure | Observed]

FEW = 7  # positions, small enough for float32 tables
BASES = (500.0, 1e6)


def coarse(x: Tensor) -> Tensor:
    """Return x rounded to float32, so that nothing is lost where it is converted and back."""
    return x.float().to(x.dtype)


def right_or_refused(subject: Subject, case: Case, x: Tensor, want: Tensor, what: str, **asked: Any) -> Measure:
    """Return a measure if the subject gives what is wanted, or raises an exception."""
    try:
        got = rotated(subject, case, x, **asked)
    except Failure as failure:
        if failure.reason == "raised":
            return Measure()
        raise
    return close(got, want, f"{what} (an error would do)")
