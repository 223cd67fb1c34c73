"""The options of pytest with ``--impl``: their declaration, and the run that they ask for."""

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from attnconf.conformance.engine.catalogue import CALL_SECONDS, HOW_TO_NAME, ISOLATE
from attnconf.conformance.source.exception_words import first_line
from attnconf.reports.record import holds_results
from attnconf.spec import courses, profiles, registry

if TYPE_CHECKING:
    from attnconf.conformance.run.plan import Run


def add(parser: pytest.Parser) -> None:
    """Declare the options to pytest."""
    group = parser.getgroup("attnconf", "conformance of attention implementations")
    group.addoption("--impl", action="append", default=[], metavar="NAME", help=HOW_TO_NAME)
    group.addoption("--results", type=Path, metavar="FILE.json", help="write everything to this file")
    group.addoption("--profile", metavar="NAME", help=f"what a verdict requires (default: {profiles.DEFAULT})")
    group.addoption("--thorough", action="store_true", help="also explore around the scored cases; never scored")
    group.addoption("--blind-spots", action="store_true", help=(
        "list what no check executed of your own file; on in a full profile (needs the extra coverage)"))  # fmt: skip
    group.addoption("--convention", action="append", default=[], metavar="NAME=CHOICE", help=(
        "take one choice alone for right, as in mask=true-keeps or norm-order=pre; spec/choices.md has all; may be "
        "given several times"))  # fmt: skip
    group.addoption("--with", dest="course", type=Path, metavar="FOLDER", help=(
        "a course: requirements, checks and mutants of its own, judged with those of the suite"))  # fmt: skip
    group.addoption("--seed", type=int, default=0, metavar="N", help="draw other numbers for the cases (default: 0)")
    group.addoption("--throughput", nargs="?", const="smoke", metavar="smoke|grid", help=(
        "also count what a call costs, and time it beside an anchor, in a few cases (default) or in a grid; no verdict "
        "depends on it"))  # fmt: skip
    group.addoption("--strict-perf", action="store_true", help="let a time that is not FASTER or SAME fail")
    group.addoption("--isolate", action="store_true", help=ISOLATE)
    group.addoption("--call-seconds", type=float, default=60.0, metavar="S", help=CALL_SECONDS)
    group.addoption("--device", default="cpu", metavar="NAME", help="where tensors live: cpu, cuda, … (default: cpu)")


def results_file(config: pytest.Config) -> Path | None:
    """Return where to write the results, as an absolute path: an implementation may change the working folder.

    Raises UsageError if there is no such folder, or if there is something else at this place.
    """
    path: Path | None = config.getoption("--results")
    if path is None:
        return None
    place = path.absolute()
    if not place.parent.is_dir():
        raise pytest.UsageError(f"--results {path}: there is no folder {str(place.parent)!r}")
    if path.is_dir():
        raise pytest.UsageError(f"--results {path} is a folder, want a file")
    if path.is_file() and path.stat().st_size and not holds_results(path):
        raise pytest.UsageError(
            f"--results {path}: there is a file of this name that holds no results; it is left alone"
        )
    return place


def begin_run(config: pytest.Config) -> "Run":
    """Return the run that the options ask for, planned and not judged. Raises UsageError, in one line."""
    import gc

    import torch

    from attnconf.conformance.engine import coverage
    from attnconf.conformance.loading import deviations, find, required_conventions

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    gc.freeze()  # a collection would walk all of torch
    device = config.getoption("--device")
    _check_device(device)
    if config.getoption("--blind-spots") and not coverage.available():
        raise pytest.UsageError(f"--blind-spots: {coverage.MISSING}")
    throughput = _throughput(config, device)
    _check_isolation(config)
    wrong = (find.LoadError, registry.SpecError, deviations.DeviationError, required_conventions.PrescriptionError)
    try:
        return _planned(config, device, throughput)
    except wrong as error:
        raise pytest.UsageError(str(error)) from None


def _planned(config: pytest.Config, device: str, throughput: str | None) -> "Run":
    """Return the planned run of what --impl names."""
    import torch

    from attnconf.conformance.loading import find, isolated, required_conventions
    from attnconf.conformance.run import course_rules, implementations
    from attnconf.conformance.run.judging import begin
    from attnconf.conformance.run.plan import Settings, make_plan

    if config.getoption("course"):
        courses.use(config.getoption("course"), shlex.quote(str(config.getoption("course"))))
    course_rules.demand(config.getoption("--seed"))
    profiles.load(config.getoption("--profile") or profiles.DEFAULT)  # before foreign code is run
    choices = required_conventions.parse(config.getoption("--convention"))
    find.working_folder_last()
    terms = isolated.Terms(config.getoption("--call-seconds"), device=device)
    loaded = [
        i
        for name in config.getoption("--impl")
        for i in (
            implementations.load_isolated(name, choices, terms)
            if config.getoption("--isolate")
            else implementations.load(name, choices)
        )
    ]
    torch.set_float32_matmul_precision("highest")  # no TF32, for the textbook as for what is judged
    settings = Settings(
        config.getoption("--profile"), config.getoption("--seed"), device,
        bool(config.getini("strict")), config.getoption("--thorough"),  # --strict is pytest's own
        config.getoption("--blind-spots"), throughput, choices,
    )  # fmt: skip
    return begin(make_plan(list({i.name: i for i in loaded}.values()), settings))


def _throughput(config: pytest.Config, device: str) -> str | None:
    """Return which cases are to be timed; the clocks are saved before foreign code can replace them."""
    which: str | None = config.getoption("--throughput")
    if which is None:
        if config.getoption("--strict-perf"):
            raise pytest.UsageError("--strict-perf: nothing is timed without --throughput")
        return None
    from attnconf.conformance.timing import grid, measuring  # noqa: F401  # measuring and what it imports keep clocks

    try:
        grid.cases(device, which)
    except ValueError as error:
        raise pytest.UsageError(f"--throughput={which} --device={device}: {error}") from None
    return which


def _check_isolation(config: pytest.Config) -> None:
    """Raise UsageError for what cannot be done, or makes no sense, where code runs in a child process."""
    if not config.getoption("--isolate"):
        return
    if os.name != "posix":
        raise pytest.UsageError("--isolate: it needs sockets and sessions of POSIX systems")
    if config.getoption("--throughput"):
        raise pytest.UsageError("--isolate: calls are timed in this process; give --throughput in a run of its own")
    if not config.getoption("--call-seconds") > 0:
        raise pytest.UsageError("--call-seconds: want a number of seconds above 0")


def _check_device(device: str) -> None:
    import torch

    try:
        torch.ones(1, device=device).item()  # "meta" has no numbers
    except Exception as error:
        raise pytest.UsageError(f"--device {device}: {first_line(error)}") from None
