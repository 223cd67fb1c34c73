"""From a submission's record to its grade: a pure function, which walks over the plan and never over the record."""

from dataclasses import dataclass
from typing import Any

Record = dict[str, Any]
# Why a requirement earned nothing, or not all: the first is no failure.
STATUSES = (
    "passed", "value", "shape", "dtype", "nonfinite", "property", "raised", "timeout", "out-of-memory", "crashed",
    "exited", "protocol", "unsupported", "not-applicable", "not-judged", "unrecognised", "empty", "blocked", "error",
)  # fmt: skip


@dataclass(frozen=True)
class Planned:
    """A requirement on a component that earns points: fixed before any submission runs.

    ``telling``: whatever computes nothing fails it.
    """

    component: str
    requirement: str
    telling: bool


@dataclass(frozen=True)
class Part:
    """What a submission earned of one requirement."""

    component: str
    requirement: str
    earned: float  # of 1
    status: str  # one of STATUSES
    sentence: str  # of the specification
    spec: str  # where that stands, as reports/schema/results-1.json has it
    message: str  # what was found, of a failure; it came in part from the submission
    mistake: str = ""  # the id of the known mistake that was found behind it
    story: str = ""  # that mistake in words
    hint: str = ""  # how to mend it
    where: str = ""  # the line of the submission
    follows_from: tuple[str, ...] = ()  # of which other failures it is a consequence


@dataclass(frozen=True)
class Scored:
    """What a submission earned of one item of the rubric."""

    name: str
    component: str
    earned: float
    points: float
    status: str  # "full", "partial", "none", "blocked"
    reason: str  # in words; "" where all was earned
    visibility: str
    hint: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Grade:
    """The grade of a submission."""

    submission: str  # the name of its folder or file: whatever its author chose, so escape it
    file: str
    score: float
    points: float
    status: str  # of the record: "judged", or why it could not be
    message: str  # words on that
    verdicts: tuple[str, ...]  # a line for each component
    items: tuple[Scored, ...]
    notes: tuple[str, ...] = ()  # advisory: forbidden names that were seen
    for_instructor: tuple[str, ...] = ()  # what an instructor should look at, never shown to students
