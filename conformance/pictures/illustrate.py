"""The pictures under a failure: its smallest example, and its map of dependences. Never scored.

All pictures of a run together may take a second; at most three of each kind are drawn.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import process_time
from typing import Any

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.judge import Judged
from attnconf.conformance.engine.mutant import apply
from attnconf.conformance.engine.requirement import Checked
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.engine.translate import in_conventions
from attnconf.conformance.pictures import dependency, smallest
from attnconf.conformance.pictures.trace import described

AT_MOST = 3  # of each
SECONDS = 1.0  # of a run, for all of them
Json = dict[str, Any]


@dataclass(frozen=True)
class Pictures:
    """The pictures under one failure, as plain data."""

    example: Json | None = None
    leaks: Json | None = None


@dataclass
class Budget:
    """The number of pictures drawn so far, and the seconds left for more."""

    seconds: float = SECONDS
    drawn: Counter[str] = field(default_factory=Counter)

    def spend(self, what: str, most: float, draw: Callable[[float], Json | None]) -> Json | None:
        """Return the picture of ``draw(seconds)``; None if it raises, or if the budget is spent."""
        if self.drawn[what] >= AT_MOST or self.seconds <= 0:
            return None
        start = process_time()
        try:
            found = draw(min(most, self.seconds))
        except Exception:
            found = None
        self.seconds -= process_time() - start
        self.drawn[what] += found is not None
        return found


def illustrate(subject: Subject, checked: Checked, judged: Judged, cases: Sequence[Case], budget: Budget) -> Pictures:
    """Return the pictures of a failure that the budget allows."""
    failing = next((case for case in cases if judged.failing and case.name == judged.failing.name), None)
    if failing is None or judged.reason is None:
        return Pictures()
    reason = judged.failure.reason if judged.failure else judged.reason
    other = in_conventions(apply([]), subject.declares)
    reference = Subject(other, subject.component, subject.lens)

    def example(seconds: float) -> Json | None:
        found = smallest.smallest(subject, reference, checked, failing, reason, seconds)
        return described(found, subject) if found else None

    def leaking(seconds: float) -> Json | None:
        return dependency.leaks(subject, reference, judged.log, seconds)

    numbers = checked.requirement.id.split("-")[1] not in ("DTYPE", "IMMUT")  # pictures show numbers, no dtypes
    return Pictures(
        budget.spend("example", smallest.SECONDS, example)
        if numbers and COMPONENTS[subject.component].by_hand
        else None,
        budget.spend("leaks", dependency.SECONDS, leaking) if dependency.concerns(checked.requirement.id) else None,
    )
