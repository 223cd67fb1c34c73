"""What is said of each item in a text: the reason, and the causes, each once."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attnconf.reports.grades import causes
from attnconf.reports.grades.inert import line, plain
from attnconf.reports.grades.shown import line as line_of
from attnconf.reports.grades.shown import reason

if TYPE_CHECKING:
    from attnconf.conformance.grading.rubric import Rubric
    from attnconf.conformance.grading.scoring import Grade, Scored

Record = Mapping[str, Any]


def texts(rubric: "Rubric", grade: "Grade", record: Record) -> dict[str, str]:
    """Return a text for each item, by its name; a cause stands at the first visible item that it costs points.

    An item that is not visible has its own causes in full, as nobody may see it beside the others.
    """
    visible = [item for item in grade.items if item.visibility == "visible"]
    shared = causes.causes(visible, grade, record)
    said = {}
    for item in grade.items:
        own = item.visibility != "visible"
        found = causes.causes([*visible, item], grade, record, of=[item]) if own else shared
        said[item.name] = _text(item, found, grade, rubric)
    return said


def in_full(grade: "Grade") -> "Grade":
    """Return a grade as an instructor may see it: nothing is hidden."""
    items = [dataclasses.replace(item, visibility="visible", hint="diagnosis") for item in grade.items]
    return dataclasses.replace(grade, items=tuple(items))


def _text(item: "Scored", found: Sequence[causes.Cause], grade: "Grade", rubric: "Rubric") -> str:
    state = line_of(item, grade, rubric).state
    lines = [line(reason(item, state, grade.status == "judged"))]
    for cause in found:
        if item.name == cause.items[0]:
            lines += ["", *map(plain, cause.lines())]
        elif item.name in cause.items:
            lines.append(f"{cause.title}: see {line(cause.items[0])}")
    return "\n".join(lines).strip()
