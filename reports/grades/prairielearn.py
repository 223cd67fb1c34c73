"""``results.json`` as PrairieLearn reads it from an external grader.

https://prairielearn.readthedocs.io/en/latest/externalGrading/#grading-results

It shows a score at once, and has no tests that are hidden. The score is that of all items, as it is what PrairieLearn
keeps; a test stands there for each visible item alone. A rubric with hidden items says something by that score.
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from attnconf.reports.grades.class_table import unique
from attnconf.reports.grades.inert import cut, line, number
from attnconf.reports.grades.shown import head, word

if TYPE_CHECKING:
    from attnconf.conformance.grading.scoring import Grade

MOST_BYTES = 1_000_000  # a longer file is refused
MOST = 4000  # characters of one output
LESS = (MOST, 1000, 200, 0)  # where there are too many
UNGRADED = ("refused", "empty", "not-gradable", "error")  # no attempt is lost by these


def results(grade: "Grade", outputs: Mapping[str, str]) -> dict[str, Any]:
    """Return the contents of the file, of at most MOST_BYTES. ``outputs``: what is said of each item."""
    made = (_results(grade, outputs, most) for most in LESS)
    return next((x for x in made if len(json.dumps(x, indent=1)) <= MOST_BYTES), _results(grade, outputs, LESS[-1]))


def _results(grade: "Grade", outputs: Mapping[str, str], most: int) -> dict[str, Any]:
    items = [item for item in grade.items if item.visibility == "visible"]
    names = unique([line(item.name) for item in items])
    gradable = grade.status not in UNGRADED
    said = cut(line(word(grade)), MOST)
    return {
        "gradable": gradable,
        "score": share(grade) if gradable else 0,
        "message": f"{head(grade)}. {said}" if gradable else said,
        "output": "\n".join(cut(line(note), MOST) for note in grade.notes[:20]),
        **({} if gradable else {"format_errors": [said]}),
        "tests": [
            {
                "name": name, "description": line(item.component), "points": number(item.earned),
                "max_points": number(item.points), "message": "", "output": cut(outputs[item.name], most),
            }
            for name, item in zip(names, items, strict=True)
        ],
    }  # fmt: skip


def share(grade: "Grade") -> float:
    """Return the part of all points that was earned, from 0 to 1."""
    all_ = number(grade.points)
    return number(min(1.0, max(0.0, number(grade.score) / all_))) if all_ > 0 else 0
