"""The grades of a class as CSV: for a spreadsheet, for nbgrader, for Moodle.

No cell is a formula; numbers are numbers.
"""

import csv
import html
import io
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from attnconf.reports.grades.inert import cell, number, points
from attnconf.reports.grades.shown import head, word

if TYPE_CHECKING:
    from attnconf.conformance.grading.rubric import Rubric
    from attnconf.conformance.grading.scoring import Grade

MARK = "\ufeff"  # without it, a spreadsheet takes UTF-8 for the code page of the machine
NBGRADER = (
    "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email", "raw_score",
    "late_submission_penalty", "score", "max_score",
)  # fmt: skip
# Those of Moodle's worksheet for grading offline, and the name of a user, for an import into the gradebook.
MOODLE = (
    "Identifier", "Full name", "Username", "Grade", "Maximum Grade", "Last modified (grade)", "Feedback comments",
)  # fmt: skip
# The folder that Moodle makes for a submission in its archive: the name, and the number of the participant.
_MOODLES = re.compile(r"(?P<name>.+)_(?P<number>\d+)_assignsubmission_(file|onlinetext)(_.*)?", re.DOTALL)


def grades_csv(rubric: "Rubric", grades: Sequence["Grade"], keys: Sequence[str]) -> str:
    """Return a row for each submission: the points of each item, and what an instructor should look at."""
    items = [item.name for item in rubric.items]
    rows = []
    for grade, key in zip(grades, keys, strict=True):
        earned = {item.name: number(item.earned) for item in grade.items}
        own = [earned.get(name, 0) for name in items]
        look_at = "; ".join(grade.for_instructor)
        rows.append((grade.submission, grade.file, grade.score, grade.points, grade.status, *own, look_at, key))
    return MARK + _sheet(unique(["name", "file", "score", "points", "status", *items, "look at", "page"]), rows)


def nbgrader_csv(rubric: "Rubric", grades: Sequence["Grade"]) -> str:
    """Return the rows that nbgrader exports; it knows neither dates nor the names of people here."""
    return _sheet(
        NBGRADER,
        [
            (rubric.title, "", "", g.submission, "", "", "", g.score, 0, g.score, g.points) for g in grades
        ],
    )  # fmt: skip


def moodle_csv(grades: Sequence["Grade"]) -> str:
    """Return the rows that Moodle imports, with what students may read as a comment; Moodle takes that for HTML."""
    rows = []
    for grade in grades:
        made = _MOODLES.fullmatch(grade.submission)
        name, user = (made["name"], "") if made else ("", grade.submission)
        identifier = f"Participant {made['number']}" if made else ""
        rows.append((identifier, name, user, grade.score, grade.points, "", html.escape(comment(grade))))
    return _sheet(MOODLE, rows)


def comment(grade: "Grade") -> str:
    """Return what students may read, on one line."""
    items = [
        f"{item.name}: {points(item.earned)} of {points(item.points)}"
        for item in grade.items
        if item.visibility == "visible"
    ]
    return ". ".join([head(grade), word(grade).rstrip("."), *(["; ".join(items)] if items else [])])


def _sheet(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    page = io.StringIO()
    writer = csv.writer(page, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow([cell(name) for name in names])
    writer.writerows([cell(content) for content in row] for row in rows)
    return page.getvalue()


def unique(names: Sequence[str]) -> list[str]:
    """Return names none of which is there twice."""
    known: list[str] = []
    for name in names:
        number_ = 1
        while (unused := name if number_ == 1 else f"{name} ({number_})") in known:
            number_ += 1
        known.append(unused)
    return known
