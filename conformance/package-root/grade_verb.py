"""``attnconf grade``: its options; submissions graded by a rubric. torch is imported when something is judged."""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from attnconf import with_course
from attnconf.exit_codes import INTERNAL, INTERRUPTED, OK, UsageError

if TYPE_CHECKING:
    from attnconf.conformance.grading.batch import Batch
    from attnconf.conformance.grading.examine import Task
    from attnconf.conformance.grading.rubric import Rubric
    from attnconf.conformance.grading.scoring import Planned
    from attnconf.conformance.grading.submissions import Submission

    Layers: TypeAlias = tuple[str, ...]
    Plan: TypeAlias = tuple[Planned, ...]
    Engine = Callable[[Sequence[Task], Rubric, int], Iterator[tuple[Task, dict[str, Any]]]]

DESCRIPTION = """\
Grade a folder of submissions by a rubric: one file, notebook, folder or archive for each. None of their code runs in
the process that judges; each is judged by the same cases, drawn from a seed that is secret until all are done. What was
interrupted goes on where it was when the same command is given again.
"""
STRICT = "strict"


def add_options(verb: argparse.ArgumentParser) -> None:
    """Declare the options of the verb, and the function that carries it out."""
    verb.description = DESCRIPTION
    verb.add_argument("what", metavar="FOLDER", type=Path, help="of submissions; with --one: a single submission")
    verb.add_argument("--rubric", required=True, metavar="RUBRIC", help=(
        "a .toml file, or the name of a shipped rubric (attnconf rubric list)"))  # fmt: skip
    verb.add_argument("--out", required=True, type=Path, metavar="FOLDER", help="where the grades go")
    verb.add_argument("--one", action="store_true", help="FOLDER is one submission: a file, a folder or an archive")
    verb.add_argument("--file", default="", metavar="NAME", help=(
        "the file to judge where a submission has several (default: the rubric's `file`)"))  # fmt: skip
    with_course.add_option(verb)
    verb.add_argument("--seed", type=int, metavar="N", help="draw the cases from it (default: a secret one)")
    verb.add_argument("--jobs", type=int, metavar="N", help="submissions at one time (default: one for each core)")
    verb.add_argument("--engine", choices=("pool", "ray"), default="pool", help=(
        "where submissions are examined: in processes of this machine, or on a Ray cluster (extra ray)"))  # fmt: skip
    verb.add_argument("--address", metavar="ADDRESS", help="of the Ray cluster (default: one that is started here)")
    verb.add_argument("--anew", action="store_true", help="forget what was graded into --out before")
    verb.add_argument("--require-isolation", choices=(STRICT,), metavar=STRICT, help=(
        "refuse to grade where a layer is missing that keeps submissions from what judges and others"))  # fmt: skip
    verb.set_defaults(act=grade)


def grade(arguments: argparse.Namespace) -> int:
    """Grade, write everything, and return the exit code. Raises UsageError."""
    from attnconf.conformance.grading import batch as batches
    from attnconf.conformance.grading import rubric_text
    from attnconf.conformance.grading.rubric import RubricError

    _demand(arguments, batches.SEEDS)
    try:
        rubric = rubric_text.load(arguments.rubric)
        with batches.alone(arguments.out), tempfile.TemporaryDirectory(prefix="attnconf-") as workspace:
            return _graded(arguments, rubric, _handed_in(arguments, Path(workspace), arguments.file or rubric.file))
    except (RubricError, batches.BatchError) as error:
        raise UsageError(str(error)) from None
    except BrokenPipeError:  # whoever read what is printed has closed it
        raise
    except OSError as error:
        raise UsageError(f"cannot write in {str(arguments.out)!r}: {error.strerror or error}") from None


def _demand(arguments: argparse.Namespace, seeds: int) -> None:
    """Raise UsageError for options that do not fit. ``seeds``: how many there are."""
    if arguments.jobs is not None and arguments.jobs < 1:
        raise UsageError(f"--jobs {arguments.jobs}: want at least 1")
    if arguments.seed is not None and not 0 <= arguments.seed < seeds:
        raise UsageError(f"--seed {arguments.seed}: want a number from 0 to {seeds - 1}")
    if arguments.address and arguments.engine != "ray":
        raise UsageError(f"--address {arguments.address} is of a Ray cluster: --engine ray uses it")
    if arguments.require_isolation and arguments.engine == "ray":
        raise UsageError(f"--require-isolation {STRICT} looks at this machine, and not at the nodes of a Ray cluster")
    among = arguments.what.is_dir() and arguments.out.resolve().is_relative_to(arguments.what.resolve())
    if among and not arguments.one:
        raise UsageError(f"--out {arguments.out} lies among the submissions, and would be graded: give another folder")


def _handed_in(arguments: argparse.Namespace, workspace: Path, wanted: str) -> "list[Submission]":
    """Return the submissions, copied to a folder where their code will run. Raises UsageError."""
    from attnconf.conformance.grading import submissions

    if arguments.one:
        if not arguments.what.exists():
            raise UsageError(f"no file or folder {str(arguments.what)!r}")
        return [submissions.one(arguments.what, workspace, wanted)]
    if not arguments.what.is_dir():
        what = "is a file" if arguments.what.exists() else "is not there"
        raise UsageError(f"{str(arguments.what)!r} {what}, want a folder of submissions; --one grades a single one")
    try:
        found = submissions.found(arguments.what, workspace, wanted)
    except OSError as error:
        raise UsageError(f"cannot read {str(arguments.what)!r}: {error.strerror or error}") from None
    if not found:
        raise UsageError(f"nothing was handed in: {str(arguments.what)!r} is empty")
    return found


def _graded(arguments: argparse.Namespace, rubric: "Rubric", handed_in: "Sequence[Submission]") -> int:
    from attnconf.conformance.grading import batch as batches
    from attnconf.conformance.grading import overview

    out = arguments.out
    if arguments.anew:
        batches.remove(out)
    page = None if arguments.anew else batches.begun(out)
    drawn = batches.drawn() if arguments.seed is None else arguments.seed
    seed = drawn if page is None else batches.continued(page, rubric, arguments.seed)
    layers, plan = ((), ()) if page is None else batches.agreed(page)
    batch = batches.Batch(out, rubric, seed, plan, layers, tuple(handed_in))
    left = batch.left()
    if page is None:
        batch = replace(batch, isolation=_layers(arguments), plan=_plan(rubric, seed))
    elif left:  # those that all had, also where it goes on elsewhere
        here = _layers(arguments)
        batch = replace(batch, isolation=tuple(layer for layer in layers if layer in here))
    for line in overview.gaps(rubric, batch.plan):
        print(f"beware: {line}", file=sys.stderr)
    batches.remove(out, [s.key for s in handed_in])
    batch.write(closed=False)
    try:
        _examine(batch, left, _engine(arguments))
    except KeyboardInterrupt:
        done = len(handed_in) - len(batch.left())
        print(f"\ninterrupted: {done} of {len(handed_in)} are graded; the same command goes on", file=sys.stderr)
        return INTERRUPTED
    records = [record for s in handed_in if (record := batch.record(s)) is not None]
    if len(records) < len(handed_in):
        print(
            f"ERROR: {len(handed_in) - len(records)} submissions have no record: a fault of the suite", file=sys.stderr
        )
        return INTERNAL
    batch.write(closed=True)
    print("\n".join(_written(batch, records)))
    return OK


def _layers(arguments: argparse.Namespace) -> "Layers":
    """Return the layers of isolation that there are. Raises UsageError where they are not all that are required."""
    from attnconf.conformance.engine import child
    from attnconf.conformance.grading import pool
    from attnconf.conformance.worker import confinement

    pool.settle()
    layers = child.layers_here()
    lacking = confinement.lacking(layers)
    if lacking and arguments.require_isolation:
        raise UsageError(f"--require-isolation {STRICT}: not to be had here: {', '.join(lacking)}")
    return layers


def _plan(rubric: "Rubric", seed: int) -> "Plan":
    """Return the plan of a new batch. Raises UsageError."""
    from attnconf.conformance.grading import controls
    from attnconf.conformance.run import course_rules

    course_rules.demand(seed)
    try:
        return tuple(controls.planned(rubric, seed))
    except controls.Unsound as error:
        raise UsageError(f"{error}; attnconf doctor tells more") from None


def _engine(arguments: argparse.Namespace) -> "Engine":
    """Return what examines tasks by a rubric and a seed."""
    if arguments.engine == "ray":
        from attnconf.conformance.grading import ray_engine

        return partial(ray_engine.examined, address=arguments.address)
    from attnconf.conformance.grading import pool

    return partial(pool.examined, jobs=arguments.jobs or pool.cores())


def _examine(batch: "Batch", left: "Sequence[Submission]", engine: "Engine") -> None:
    """Examine what is left, and keep each record as it comes; what is refused has its record at once."""
    from tqdm import tqdm

    from attnconf.conformance.grading.examine import task_of, unjudged

    for s in batch.submissions:
        if s.file is None:
            batch.keep(s, unjudged(task_of(s), "empty" if s.is_empty else "refused", s.refused))
    by_task = {task_of(s): s for s in left}
    done = len(batch.submissions) - len(left)
    with tqdm(total=len(batch.submissions), initial=done, unit="", desc="grading", disable=None) as bar:
        for task, record in engine(list(by_task), batch.rubric, batch.seed):
            batch.keep(by_task[task], record)
            bar.update()


def _written(batch: "Batch", records: "list[dict[str, Any]]") -> list[str]:
    """Write what is made of the records, and return the lines to print."""
    from attnconf.conformance.grading import scoring
    from attnconf.reports.grades import terminal, writing

    given = [scoring.grade(batch.rubric, batch.plan, record) for record in records]
    keys = [s.key for s in batch.submissions]
    writing.write_all(batch.out, batch.page(closed=True), batch.rubric, given, records, keys)
    return terminal.lines(batch.rubric, given, batch.out)
