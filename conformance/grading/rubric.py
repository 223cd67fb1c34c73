"""A rubric: what a homework asks for, and how many points it is worth."""

from collections.abc import Mapping
from dataclasses import dataclass, field

VISIBILITIES = ("visible", "hidden", "after_due_date", "after_published")
HINTS = ("none", "category", "diagnosis")  # each tells more than the one before


class RubricError(ValueError):
    """A rubric is wrong; the message is one line, with the file, the line and the nearest key."""


@dataclass(frozen=True)
class Wanted:
    """A component that each submission has to offer."""

    component: str
    name: str | None = None  # the class or function it has to be; None: found by what it does


@dataclass(frozen=True)
class Item:
    """A line of the rubric: points for requirements on one component."""

    name: str
    points: float
    component: str
    requirements: tuple[str, ...]  # ids, in the order of the specification
    all_or_nothing: bool = False
    needs: tuple[str, ...] = ()  # names of items that must have all their points; else this one is blocked
    threshold: float = 0.0  # a smaller share of the requirements earns nothing
    partial: bool = False  # a failed requirement earns the share of its cases that pass, up to ``cap`` of it
    cap: float = 0.5
    visibility: str = "visible"  # to students: one of VISIBILITIES
    hint: str = "diagnosis"  # what a student is told of a failure: one of HINTS


@dataclass(frozen=True)
class Rubric:
    """What a homework asks for."""

    title: str
    wanted: tuple[Wanted, ...]
    items: tuple[Item, ...]
    profile: str
    conventions: Mapping[str, str] = field(default_factory=dict)  # choices that are taken for right alone
    unrecognised: str = "nothing"  # what a component earns that nobody knows how to read: "nothing", or "laws"
    seconds: float = 120.0  # for one submission, by the clock on the wall
    file: str = ""  # which one is judged where a submission has several
    forbidden: tuple[str, ...] = ()  # dotted names whose use is reported, never scored
    text: str = ""  # as it was read
    source: str = ""  # the file, or the name of a shipped rubric
    course: str = ""  # the folder of a course whose requirements it may ask, too

    @property
    def points(self) -> float:
        """The most that can be earned."""
        return sum(item.points for item in self.items)
