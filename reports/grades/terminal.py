"""What ``attnconf grade`` prints at its end."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attnconf.reports.grades import figures, inert

if TYPE_CHECKING:
    from attnconf.conformance.grading.rubric import Rubric
    from attnconf.conformance.grading.scoring import Grade

LISTED = 40  # submissions; of a larger class the files tell
WIDEST = 40  # characters of a name


def lines(rubric: "Rubric", grades: Sequence["Grade"], out: Path) -> list[str]:
    """Return a line for each submission, the class in words, and where everything was written."""
    width = max((min(len(inert.line(g.submission)), WIDEST) for g in grades[:LISTED]), default=0)
    told = [_line(grade, width) for grade in grades[:LISTED]]
    if len(grades) > LISTED:
        told.append(f"… and {len(grades) - LISTED} more: {out / 'grades.csv'}")
    words = ", ".join(f"{name} {value}" for name, value in figures.in_words(rubric, grades))
    eye = sum(bool(figures.to_look_at(grade)) for grade in grades)
    look = [f"look at yourself: {eye} (summary.html says why)"] if eye else []
    return [*told, "", words, *look, f"written to {out}: summary.html, grades.csv, students/, gradescope/, …"]


def _line(grade: "Grade", width: int) -> str:
    """Return the submission, its points, and why there are no more, in few words."""
    points = f"{inert.points(grade.score):>6} of {inert.points(grade.points)}"
    lacking = [item.name for item in grade.items if item.status != "full"]
    why = grade.message if grade.status != "judged" else ", ".join(lacking)
    name = inert.cut(inert.line(grade.submission), WIDEST)
    return f"{name:{width}}  {points}  {inert.cut(inert.line(why), 90)}".rstrip()
