"""One submission, examined: bound, judged and explained by the checks of its rubric. None of its code runs here."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from attnconf.conformance.engine import child
from attnconf.conformance.engine.request import Implementation, Unjudgeable
from attnconf.conformance.grading import forbidden
from attnconf.conformance.grading.rubric import Rubric, Wanted
from attnconf.conformance.grading.submissions import Submission
from attnconf.conformance.grading.well_formed import SCHEMA
from attnconf.conformance.loading import isolated
from attnconf.conformance.loading.find import LoadError
from attnconf.conformance.run.explain import explain_failures
from attnconf.conformance.run.judging import begin, judge_one
from attnconf.conformance.run.plan import Plan, Run, Settings, make_plan, only
from attnconf.conformance.run.record import record
from attnconf.spec.registry import SpecError

CALL = 10.0  # seconds for one call, at most
JUDGED, TIMEOUT, NOT_GRADABLE = "judged", "timeout", "not-gradable"
Record = dict[str, Any]


@dataclass(frozen=True)
class Task:
    """A submission to examine: its file lies in a folder where nothing else lies."""

    submission: str
    shown: str  # the file in words
    folder: str
    file: str  # from there on
    digest: str

    @property
    def path(self) -> str:
        return str(Path(self.folder, self.file))


def task_of(submission: Submission) -> Task:
    """Return what there is to examine of a submission: nothing, of one that is refused."""
    folder, file = submission.folder, submission.file
    inside = str(file.relative_to(folder)) if folder and file else ""
    return Task(submission.name, submission.shown, str(folder or ""), inside, submission.digest)


def examined(task: Task, rubric: Rubric, seed: int) -> Record:
    """Return the record of a submission, in the form of ``attnconf-grade/1``."""
    seen = forbidden.seen(Path(task.folder), rubric.forbidden) if rubric.forbidden else []
    status, message, results = _results(task, rubric, seed, time.monotonic() + rubric.seconds, seen)
    return {**unjudged(task, status, message), "notes": seen, "results": results}


def unjudged(task: Task, status: str, message: str) -> Record:
    """Return the record of a submission of which nothing could be judged."""
    return {
        "schema": SCHEMA, "submission": task.submission, "file": task.shown, "digest": task.digest, "status": status,
        "message": message, "notes": [], "results": None,
    }  # fmt: skip


def _results(task: Task, rubric: Rubric, seed: int, until: float, seen: list[str]) -> tuple[str, str, Record | None]:
    """Return status, words, and the record of a run; forbidden names that its calls use are added to what was seen."""
    settings = Settings(profile=rubric.profile, seed=seed, prescribed=rubric.conventions)
    try:
        found = [i for wanted in rubric.wanted for i in _found(task, wanted, rubric)]
        apart = [i.apart for i in found if isinstance(i, Implementation) and isinstance(i.apart, child.Away)]
        for one in apart if rubric.forbidden else ():
            one.trace(rubric.forbidden)
        run, late = _judged(make_plan(found, settings), rubric, until)
        used = [name for one in apart if rubric.forbidden for name in one.traced(rubric.forbidden)]
        hidden = [name for name in dict.fromkeys(used) if not any(note.startswith(f"names {name} ") for note in seen)]
        seen += [f"calls {name}, which its text does not name" for name in hidden]
        results = _told(record(run), task)
        return (TIMEOUT, late, results) if late else (*_status(found), results)
    except SpecError as error:
        return NOT_GRADABLE, str(error), None
    finally:
        child.end_all()


def _found(task: Task, wanted: Wanted, rubric: Rubric) -> list[Implementation | Unjudgeable]:
    """Return what a submission offers for one component, each called as the submission is."""
    chosen = f":{wanted.name}" if wanted.name else ""
    typed, shown = (f"{file}{chosen}@{wanted.component}" for file in (task.path, task.shown))
    try:
        half = rubric.seconds / 2
        terms = isolated.Terms(min(CALL, half), half, half, reads=[Path(task.folder)])
        found = isolated.load(typed, rubric.conventions, terms)
    except LoadError as error:
        found = [Unjudgeable(shown, task.path, str(error))]
    return [replace(i, name=f"{shown} ({n})" if n else shown) for n, i in enumerate(found)]


def _judged(plan: Plan, rubric: Rubric, until: float) -> tuple[Run, str]:
    """Return the run of what a plan has of the rubric's components, explained, and words where its time was over.

    All of it is judged: most of the calls are those of what any rubric asks, and the rest tells which mistake it is.
    """
    components = {wanted.component for wanted in rubric.wanted}
    run, late = begin(only(plan, lambda planned: planned.entry.component in components)), ""
    for n, planned in enumerate(run.plan.planned):
        if time.monotonic() > until:
            late = f"{len(run.plan.planned) - n} of {len(run.plan.planned)} checks were not judged: its time was over"
            break
        judge_one(run, planned)
    explain_failures(run)
    return run, late


def _told(content: Any, task: Task) -> Any:
    """Return a record that is the same wherever and whenever it is made: without times, and places of this machine."""
    if isinstance(content, str):
        return content.replace(task.path, task.shown).replace(task.folder, "")
    if isinstance(content, dict):
        return {key: 0.0 if key == "seconds" else _told(value, task) for key, value in content.items()}
    return [_told(value, task) for value in content] if isinstance(content, list) else content


def _status(found: Sequence[Implementation | Unjudgeable]) -> tuple[str, str]:
    """Return status and words for what was found: it can be judged where anything can."""
    reasons = [i.reason for i in found if isinstance(i, Unjudgeable)]
    return (NOT_GRADABLE, "; ".join(dict.fromkeys(reasons))) if len(reasons) == len(found) else (JUDGED, "")
