"""What a student is shown of a grade: what is hidden shows neither in a line nor in a total."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from attnconf.reports.grades import causes
from attnconf.reports.grades.inert import cut, number, points

if TYPE_CHECKING:
    from attnconf.conformance.grading.rubric import Rubric
    from attnconf.conformance.grading.scoring import Grade, Scored

Record = Mapping[str, Any]
STATES = {"full": "all", "partial": "in part", "none": "not earned", "blocked": "blocked"}
MOST_MESSAGE = 600  # characters of what a submission that could not be judged says: a way out for what is hidden
PASSED = "Public checks passed."
WHY = {
    "refused": "It was refused", "empty": "There is nothing in it", "not-gradable": "It could not be graded",
    "timeout": "It took too long", "crashed": "It crashed", "out-of-memory": "It asked for too much memory",
    "error": "A fault of the suite, not of the submission",
}  # fmt: skip


@dataclass(frozen=True)
class Line:
    """An item of the rubric."""

    name: str
    component: str
    earned: str
    points: str
    state: str  # one of STATES
    word: str  # for it
    reason: str


@dataclass(frozen=True)
class Shown:
    """The page of a student."""

    title: str
    name: str
    file: str
    head: str  # the score
    word: str  # on it
    is_right: bool
    lines: Sequence[Line]
    later: Sequence[str]  # "2 points: shown later"
    causes: Sequence[causes.Cause]
    said: Sequence[str]  # a line for each component, where nothing is hidden
    notes: Sequence[str]
    reading: Sequence[str]


def shown(rubric: "Rubric", grade: "Grade", record: Record) -> Shown:
    """Return what a student is shown of a grade and its record."""
    items = [item for item in grade.items if item.visibility == "visible"]
    found = causes.causes(items, grade, record)
    later = [item for item in grade.items if item.visibility not in ("visible", "hidden")]
    in_full = len(items) == len(grade.items) and all(item.hint == "diagnosis" for item in items)
    is_right = grade.status == "judged" and all(earned_all(item) for item in items) and bool(items)
    return Shown(
        title=rubric.title, name=grade.submission, file=grade.file, head=head(grade), word=word(grade),
        is_right=is_right, lines=[line(item, grade, rubric) for item in items],
        later=[f"{points(item.points)} points: shown later" for item in later], causes=found,
        said=grade.verdicts if in_full else (), notes=grade.notes, reading=reading(found),
    )  # fmt: skip


def earned_all(item: "Scored") -> bool:
    """Return whether all points of an item were earned."""
    return item.status == "full" and number(item.earned) >= number(item.points)


def head(grade: "Grade") -> str:
    """Return the score in words, of what is visible where something is not."""
    items = [item for item in grade.items if item.visibility == "visible"]
    earned, all_ = (sum(number(getattr(item, key)) for item in items) for key in ("earned", "points"))
    return f"{points(earned)} of {points(all_)} {'visible ' * (len(items) < len(grade.items))}points"


def word(grade: "Grade") -> str:
    """Return a sentence on the score."""
    items = [item for item in grade.items if item.visibility == "visible"]
    if grade.status != "judged":
        return f"{WHY.get(grade.status, grade.status)}: {cut(grade.message, MOST_MESSAGE)}".removesuffix(": ")
    failing = sum(not earned_all(item) for item in items)
    if not items:
        return "There are no public checks."
    return f"{failing} of {len(items)} public checks did not pass." if failing else PASSED


def line(item: "Scored", grade: "Grade", rubric: "Rubric") -> Line:
    """Return the line of an item, with the reason as far as its hint allows."""
    state = "full" if earned_all(item) else item.status if item.status in ("partial", "blocked") else "none"
    if state == "blocked" and not _may_name(item, grade, rubric):
        state = "none"
    return Line(
        item.name, item.component, points(item.earned), points(item.points), state, STATES[state],
        reason(item, state, grade.status == "judged"),
    )  # fmt: skip


def _may_name(item: "Scored", grade: "Grade", rubric: "Rubric") -> bool:
    """Return whether all items that this one needs are visible."""
    visible = {other.name for other in grade.items if other.visibility == "visible"}
    return all(name in visible for wanted in rubric.items if wanted.name == item.name for name in wanted.needs)


def reason(item: "Scored", state: str, judged: bool = True) -> str:
    """Return why an item did not earn all, as far as its hint allows."""
    if state == "full":
        return ""
    if not judged:
        return "the submission was not judged"
    if state == "none" and item.status == "blocked":  # by something that is not shown
        return "it depends on what is not shown here"
    if item.hint == "none":
        return "not all of it holds"
    failing = sum(map(causes.is_failing, item.parts))
    counted = f"{failing} of {len(item.parts)} requirements failed" if item.parts else "nothing of it was judged"
    return item.reason or counted if item.hint == "diagnosis" or state == "blocked" else counted


def reading(found: Sequence[causes.Cause]) -> list[str]:
    """Return what to read, in words: places of the specification, and functions of the reference."""
    told = [cause for cause in found if cause.spec.startswith("spec/")]  # a course's own page is not the student's
    places = [f"{cause.spec} (attnconf explain {cause.requirements[0]})" for cause in told]
    functions = [name for cause in found for r in cause.results for name in r.get("reference", ())]
    return list(dict.fromkeys([*places, *functions]))
