"""``results.json`` as Gradescope reads it: a test for each item of the rubric.

https://gradescope-autograders.readthedocs.io/en/latest/specs/
"""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attnconf.reports.grades.class_table import unique
from attnconf.reports.grades.inert import cut, line, number
from attnconf.reports.grades.shown import earned_all, head, word

if TYPE_CHECKING:
    from attnconf.conformance.grading.rubric import Item, Rubric
    from attnconf.conformance.grading.scoring import Grade, Scored

Record = Mapping[str, Any]
MOST = 4000  # characters of one output


def results(
    batch: Mapping[str, Any], rubric: "Rubric", grade: "Grade", record: Record, outputs: Mapping[str, str]
) -> dict[str, Any]:
    """Return the contents of the file; its score is the sum of its tests'. ``outputs``: what is said of each item."""
    tests = _tests(grade.items)
    for test, item in zip(tests, grade.items, strict=True):
        passed = "passed" if earned_all(item) else "failed"
        test |= {"score": number(item.earned), "status": passed, "output": cut(outputs[item.name], MOST)}
    return {
        "score": number(math.fsum(number(item.earned) for item in grade.items)),
        "output": cut("\n".join([f"{head(grade)}. {line(word(grade))}", *_notes(grade)]), MOST),
        "output_format": "text", "test_output_format": "text", "test_name_format": "text",
        "stdout_visibility": "hidden",
        "extra_data": extra(batch, rubric, grade),
        "tests": tests,
    }  # fmt: skip


def failed(rubric: "Rubric") -> dict[str, Any]:
    """Return the contents of the file where nothing was graded: no points."""
    words = "The autograder failed, and no points were given. Tell your instructor, who sees why."
    return {
        "score": 0, "output": words, "output_format": "text", "stdout_visibility": "hidden",
        "tests": _tests(rubric.items),
    }  # fmt: skip


def _tests(items: Sequence["Item | Scored"]) -> list[dict[str, Any]]:
    """Return a test for each item, without any points."""
    names = unique([line(item.name) for item in items])
    return [
        {
            "name": name, "number": str(number_), "score": 0, "max_score": number(item.points), "status": "failed",
            "output": "not graded", "output_format": "text", "visibility": item.visibility, "tags": [item.component],
        }
        for number_, (name, item) in enumerate(zip(names, items, strict=True), start=1)
    ]  # fmt: skip


def extra(batch: Mapping[str, Any], rubric: "Rubric", grade: "Grade") -> dict[str, Any]:
    """Return what has to be known to repeat the grading; the seed only when nobody can use it any more."""
    known = {
        "suite": batch["suite"], "isolation": list(batch["isolation"]), "rubric": line(rubric.title),
        "profile": rubric.profile, "status": grade.status, "closed": bool(batch["closed"]),
    }  # fmt: skip
    return known | ({"seed": batch["seed"]} if batch["closed"] else {})


def _notes(grade: "Grade") -> list[str]:
    return [f"noted, no points depend on it: {line(note)}" for note in grade.notes]
