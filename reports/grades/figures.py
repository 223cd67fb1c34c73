"""What is counted over a class: the distribution, each item's share, mistakes, requirements, and what to look at."""

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from attnconf.reports.grades.causes import is_failing
from attnconf.reports.grades.inert import number, points
from attnconf.reports.grades.shown import earned_all

if TYPE_CHECKING:
    from attnconf.conformance.grading.rubric import Rubric
    from attnconf.conformance.grading.scoring import Grade, Part

BINS = 10
SHOWN = {
    "visible": "at once", "hidden": "never", "after_due_date": "after the due date",
    "after_published": "when grades are published",
}  # fmt: skip
MOST = 20  # mistakes, and requirements, that are listed


@dataclass(frozen=True)
class Bin:
    """How many submissions earned from ``low`` to ``high`` points, which only the last of the bins includes."""

    label: str
    count: int
    share: float  # of the largest bin


@dataclass(frozen=True)
class OfItem:
    """What a class earned of an item."""

    name: str
    points: str
    share: str  # of its points, in the mean
    full: int  # submissions that earned all
    shown: str  # to students, when


@dataclass(frozen=True)
class Frequent:
    """A mistake, or a requirement, and in how many submissions it is."""

    count: int
    name: str
    words: str
    where: str  # a component, or a place of the specification


NOT_FAILED = ("blocked", "not-judged", "not-applicable", "unsupported", "unrecognised", "empty")


def scores(grades: Sequence["Grade"]) -> list[float]:
    """Return the scores, those of submissions that could not be judged among them."""
    return [number(grade.score) for grade in grades]


def in_words(rubric: "Rubric", grades: Sequence["Grade"]) -> list[tuple[str, str]]:
    """Return figures of the class, with their names."""
    known = scores(grades)
    states = Counter(grade.status for grade in grades)
    counted = ", ".join(f"{n} {state}" for state, n in states.most_common())
    if not known:
        return [("submissions", "0")]
    quartiles = statistics.quantiles(known, n=4, method="inclusive") if len(known) > 1 else known * 3
    return [
        ("submissions", f"{len(known)} ({counted})"),
        ("points", f"of {points(rubric.points)}"),
        ("mean", _rounded(statistics.fmean(known))),
        ("median", _rounded(statistics.median(known))),
        ("half of them", f"from {_rounded(quartiles[0])} to {_rounded(quartiles[2])}"),
        ("all", f"from {_rounded(min(known))} to {_rounded(max(known))}"),
    ]


def _rounded(earned: float) -> str:
    return points(round(earned, 2))


def distribution(rubric: "Rubric", grades: Sequence["Grade"]) -> list[Bin]:
    """Return the bins of equal width from 0 to all points."""
    all_ = number(rubric.points)
    if all_ <= 0:
        return []
    counts = [0] * BINS
    for score in scores(grades):
        counts[min(BINS - 1, max(0, math.floor(score / all_ * BINS + 1e-9)))] += 1
    edges = [all_ * n / BINS for n in range(BINS + 1)]
    labels = [f"{_rounded(low)} to {_rounded(high)}" for low, high in pairwise(edges)]
    return [Bin(label, n, n / max(1, *counts)) for label, n in zip(labels, counts, strict=True)]


def items(rubric: "Rubric", grades: Sequence["Grade"]) -> list[OfItem]:
    """Return what the class earned of each item."""
    found = []
    for item in rubric.items:
        own = [scored for grade in grades for scored in grade.items if scored.name == item.name]
        shares = [number(x.earned) / number(x.points) for x in own if number(x.points) > 0]
        share = f"{100 * statistics.fmean(shares):.0f} %" if shares else ""
        found.append(OfItem(item.name, points(item.points), share, sum(map(earned_all, own)), SHOWN[item.visibility]))
    return found


def mistakes(grades: Sequence["Grade"]) -> list[Frequent]:
    """Return the known mistakes, the most frequent first; each counts once for a submission."""
    counts: Counter[str] = Counter()
    stories: dict[str, tuple[str, str]] = {}
    for grade in grades:
        named = {part.mistake: (part.story, part.component) for part in _failing(grade) if part.mistake}
        counts.update(named.keys())
        stories |= {name: told for name, told in named.items() if name not in stories}
    return [Frequent(n, name, *stories[name]) for name, n in _ordered(counts)]


def requirements(grades: Sequence["Grade"]) -> list[Frequent]:
    """Return the requirements that fail at the root, the most frequent first."""
    counts: Counter[str] = Counter()
    known: dict[str, Part] = {}
    for grade in grades:
        found = {
            f"{part.requirement} on {part.component}": part
            for part in _failing(grade)
            if grade.status == "judged" and not part.follows_from and part.status not in NOT_FAILED
        }
        counts.update(found.keys())
        known |= found
    return [Frequent(n, name, known[name].sentence, known[name].spec) for name, n in _ordered(counts)]


def _failing(grade: "Grade") -> list["Part"]:
    return [part for item in grade.items for part in item.parts if is_failing(part)]


def _ordered(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda found: (-found[1], found[0]))[:MOST]


def to_look_at(grade: "Grade") -> list[str]:
    """Return what an instructor should look at."""
    judged = [] if grade.status == "judged" else [f"{grade.status}: {grade.message}".removesuffix(": ")]
    return [*judged, *grade.for_instructor, *(f"noted: {note}" for note in grade.notes)]
