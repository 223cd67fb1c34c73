"""An instructor's own solution, graded as a submission is: what it does not earn, nobody should be asked for."""

import tempfile
from pathlib import Path

from attnconf.conformance.grading import controls, pool, scoring, submissions
from attnconf.conformance.grading.examine import examined, task_of
from attnconf.conformance.grading.rubric import Item, Rubric, RubricError, Wanted
from attnconf.conformance.grading.scoring import Grade
from attnconf.conformance.grading.selecting import asked
from attnconf.spec import profiles

SEED = 0


def graded(path: Path, rubric: Rubric) -> tuple[Grade, list[scoring.Planned]]:
    """Return the grade of a solution, and the plan that it was graded by. Raises RubricError where there is none."""
    pool.settle()
    with tempfile.TemporaryDirectory(prefix="attnconf-") as workspace:
        own = submissions.one(path, Path(workspace), rubric.file) if path.exists() else None
        if own is None or own.file is None:
            raise RubricError(f"--solution {path}: {own.refused if own else 'there is no such file'}")
        plan = controls.planned(rubric, SEED)
        record = examined(task_of(own), rubric, SEED)
    return scoring.grade(rubric, plan, record), plan


def offered(path: Path, component: str) -> set[str]:
    """Return the requirements on a component that a solution passes. Raises RubricError where it cannot be judged."""
    everything = tuple(asked(profiles.DEFAULT, component))
    if not everything:
        return set()  # what is wrong with the component is said where the rubric is written
    item = Item("everything", 1.0, component, everything)
    grade, _ = graded(path, Rubric("solution", (Wanted(component),), (item,), profiles.DEFAULT))
    passed = {part.requirement for part in grade.items[0].parts if part.status == "passed"}
    if not passed:
        raise RubricError(f"--solution {path}: {grade.message or '; '.join(grade.verdicts)}")
    return passed


def lacks(grade: Grade) -> list[str]:
    """Return a line for each item that a solution does not earn in full, with the requirements that it fails."""
    return [
        f"your solution earns {scored.earned:g} of {scored.points:g} of {scored.name}: "
        + ", ".join(f"{p.requirement} ({p.status})" for p in scored.parts if p.status != "passed")
        for scored in grade.items
        if scored.status != "full"
    ]
