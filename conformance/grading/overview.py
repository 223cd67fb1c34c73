"""What a rubric gives points for, and what not, as lines to read."""

import textwrap
from collections.abc import Sequence

from attnconf.conformance.grading.rubric import Item, Rubric
from attnconf.conformance.grading.scoring import Planned
from attnconf.conformance.grading.selecting import asked, section
from attnconf.spec.registry import Requirement


def lines(rubric: Rubric, width: int = 120) -> list[str]:
    """Return a table of the items, and what of the profile earns no points."""
    rows = [(f"{i.points:g}", str(len(i.requirements)), i.name, _conditions(i)) for i in rubric.items]
    number = len({(item.component, name) for item in rubric.items for name in item.requirements})
    total = (f"{rubric.points:g}", str(number), "in all", "")
    table = _aligned([("points", "requirements", "item", ""), *rows, total])
    prescribed = [f"prescribed: {name} = {choice}" for name, choice in rubric.conventions.items()]
    return [f"{rubric.title} ({rubric.profile})", *prescribed, "", *table, *_without_points(rubric, width)]


def gaps(rubric: Rubric, plan: Sequence[Planned]) -> list[str]:
    """Return a line for each thing that a plan keeps everybody from earning.

    A requirement that is not in it is asked of nobody; an item without any, and a component of which nothing is
    telling, earn nothing whatever is handed in.
    """
    planned = {(one.component, one.requirement) for one in plan}
    told = [
        f"{wanted.component} can earn nothing: what computes nothing passes all that is asked of it"
        for wanted in rubric.wanted
        if not any(one.telling and one.component == wanted.component for one in plan)
    ]
    for item in rubric.items:
        lost = [name for name in item.requirements if (item.component, name) not in planned]
        if len(lost) == len(item.requirements):
            told.append(f"{item.name} can earn nothing: none of its requirements can be judged here")
        elif lost:
            told.append(f"{item.name} is without {', '.join(lost)}, which cannot be judged here")
    return told


def _conditions(item: Item) -> str:
    """Return what else is asked for the points of an item."""
    told = [
        "all or nothing" if item.all_or_nothing else "",
        f"at least {item.threshold:.0%}" if item.threshold else "",
        f"in part, up to {item.cap:.0%}" if item.partial else "",
        f"needs {', '.join(item.needs)}" if item.needs else "",
        item.visibility if item.visibility != Item.visibility else "",
    ]
    return "; ".join(words for words in told if words)


def _aligned(rows: Sequence[tuple[str, str, str, str]]) -> list[str]:
    """Return the rows in columns, numbers to the right."""
    points, numbers, names = (max(len(row[i]) for row in rows) for i in range(3))
    return [f"{a:>{points}}  {b:>{numbers}}  {c:<{names}}  {d}".rstrip() for a, b, c, d in rows]


def _without_points(rubric: Rubric, width: int) -> list[str]:
    """Return by component and section the requirements of the profile that are in no item."""
    told = []
    for wanted in rubric.wanted:
        graded = {name for item in rubric.items if item.component == wanted.component for name in item.requirements}
        left = [r for name, r in asked(rubric.profile, wanted.component).items() if name not in graded]
        told += ["", f"earn no points of {wanted.component}: {len(left)} requirements"]
        for place, ids in _by_section(left).items():
            told += textwrap.wrap(
                f"{place}: {', '.join(ids)}", width, initial_indent="  ", subsequent_indent="    ",
                break_on_hyphens=False,
            )  # fmt: skip
    return told


def _by_section(requirements: Sequence[Requirement]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one in requirements:
        found.setdefault(section(one), []).append(one.id if one.strength == "MUST" else f"{one.id} ({one.quality})")
    return found
