"""The pytest front end, ``pytest conformance --impl NAME``: options, items, header and final page."""

import os
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from attnconf.conformance import lingering, options, printing, watched
from attnconf.conformance.engine import progress
from attnconf.conformance.engine.catalogue import ENDED_EARLY
from attnconf.conformance.interrupts import Interrupts

if TYPE_CHECKING:
    from attnconf.conformance.engine.request import Unjudgeable
    from attnconf.conformance.run.plan import Planned, Run

FRONT: pytest.StashKey["Front"] = pytest.StashKey()
SILENT = -2  # with this verbosity pytest prints neither a header nor counts
STOPPING = "stopping: what has failed is being explained; Ctrl-C once more leaves that out"
TIMING = Path(__file__).with_name("test_throughput.py")


def pytest_addoption(parser: pytest.Parser) -> None:
    options.add(parser)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> Generator[None]:
    """Begin a run in a process of its own, before pytest captures what is printed.

    pytest-benchmark is loaded where throughput is asked for; else it is not even imported.
    """
    _begin_apart(early_config)
    args[:] = ["--throughput=smoke" if word == "--throughput" and not _is_a_choice(args, i) else word
               for i, word in enumerate(args)]  # fmt: skip  # what follows is no choice, but a folder of tests
    if any(word.partition("=")[0] == "--throughput" for word in args):
        for plugin in ("pytest_benchmark.plugin", "attnconf.conformance.benchmarks"):
            early_config.pluginmanager.import_plugin(plugin)
    return (yield)


def _begin_apart(config: pytest.Config) -> None:
    """Go on in a child process if pytest was started as a command, to judge; the command's process ends with it."""
    given = config.known_args_namespace
    started = Path(sys.argv[0])
    is_command = "pytest" in (started.stem, started.parent.name) and sys.argv[1:] == list(config.invocation_params.args)
    if not given.impl or given.help or not is_command:
        return
    code = watched.apart(ENDED_EARLY)
    if code is not None:
        sys.stderr.flush()
        os._exit(code)  # whatever else is to be done at the end, the child has done
    config.add_cleanup(lambda: watched.finish(lingering.code(pytest.ExitCode.USAGE_ERROR)))


def _is_a_choice(words: list[str], index: int) -> bool:
    return words[index + 1 : index + 2] in (["smoke"], ["grid"])


class Front:
    """A run under pytest: judging on demand, and a results file that is valid at any time."""

    def __init__(self, run: "Run", results: Path | None):
        self.run = run
        self.results = results
        self.written = 0.0
        self.patience = 0.5  # seconds between two writings; more if writing is slow
        self.unwritten: str | None = None  # why the results file could not be written
        self.findings: list[str] = []
        self.too_slow: list[str] = []  # failures under --strict-perf
        self.interrupts = Interrupts()
        self.interrupted = False  # before the end
        self.verbosity = 0  # of pytest: 1 is -v, -1 is -q
        self.count: Callable[[], object] = lambda: None  # called after each judgement

    @property
    def unjudgeable(self) -> "list[Unjudgeable]":
        from attnconf.conformance.engine.request import Unjudgeable

        return [i for i in self.run.plan.implementations if isinstance(i, Unjudgeable)]

    def judge(self, planned: "Planned") -> Any:
        from attnconf.conformance.run.judging import judge_one

        self.interrupts.end_if_asked()
        with self.interrupts.heeded():
            judged = judge_one(self.run, planned)
        self.count()
        self.save_now_and_then()
        return judged

    def save_now_and_then(self) -> None:
        if self.results and time.monotonic() - self.written > self.patience:
            self.save()

    def save(self) -> None:
        from attnconf.conformance.run.record import record
        from attnconf.reports.record import write

        if not self.results:
            return
        start = time.monotonic()
        try:
            write(self.results, record(self.run))
            self.unwritten = None
        except OSError as error:  # reported at the end: a full disk does not end the run
            self.unwritten = f"--results {self.results}: {error.strerror or error}"
        self.written = time.monotonic()
        self.patience = max(0.5, 20 * (self.written - start))


def pytest_configure(config: pytest.Config) -> None:
    lingering.sessions.append(config)
    if not config.getoption("--impl"):
        return
    lingering.silence_warnings(config)
    lingering.end_with(pytest.ExitCode.USAGE_ERROR, within=1)  # unless the run comes to its end
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):  # one thread on small work, before torch is imported
        os.environ.setdefault(variable, "1")
    path = options.results_file(config)
    config.option.tbstyle = "no"  # failures are shown once, at the end, with their consequences folded
    config.option.reportchars = ""
    verbosity, config.option.verbose = config.option.verbose, SILENT
    if not any(word.startswith("--benchmark") for word in config.invocation_params.args):
        config.option.benchmark_quiet = True  # its table is shown to those who ask it for something
    try:
        front = Front(options.begin_run(config), path)
    except KeyboardInterrupt:  # while a file is loaded, or how it is called is tried out
        print("\ninterrupted: nothing was judged", file=sys.stderr)
        raise
    front.interrupts.listen()
    front.verbosity = verbosity
    progress.terminal = progress.find_terminal()
    front.save()
    if front.unwritten:
        raise pytest.UsageError(front.unwritten)
    config.stash[FRONT] = front


def pytest_unconfigure(config: pytest.Config) -> None:
    lingering.sessions.remove(config)
    if FRONT in config.stash:
        if not watched.is_apart():  # else there is nothing left to interrupt
            config.stash[FRONT].interrupts.forget()
        del config.stash[FRONT]  # pytest's objects refer to one another: a run would wait there for the collector
    if config.getoption("--isolate"):
        from attnconf.conformance.engine import child

        child.end_all()
    if progress.terminal is not None:
        progress.terminal.close()
        progress.terminal = None


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Print the implementations, versions and settings, in place of pytest's own header."""
    front = session.config.stash.get(FRONT, None)
    if front is not None and front.verbosity >= 0:
        printing.show_header(_reporter(session.config), front.run, front.verbosity)


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: pytest.TestReport, config: pytest.Config) -> tuple[str, str, str] | None:
    """Print no dot for a check: failures are printed at the end."""
    return ("", "", "") if config.stash.get(FRONT, None) is not None and report.when == "call" else None


def _reporter(config: pytest.Config) -> Any:
    return config.pluginmanager.get_plugin("terminalreporter")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "planned" not in metafunc.fixturenames:
        return
    front = metafunc.config.stash.get(FRONT, None)
    params = [*front.unjudgeable, *front.run.plan.planned] if front else []
    metafunc.parametrize("planned", params, ids=[getattr(p, "id", getattr(p, "name", "")) for p in params])


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    asked = config.getoption("--throughput") is not None
    return True if collection_path == TIMING and not asked else None


def pytest_collection(session: pytest.Session) -> None:
    front = session.config.stash.get(FRONT, None)
    if front is not None and session.config.option.keyword:
        _select(front, session.config)


def pytest_collection_modifyitems(config: pytest.Config, items: list[Any]) -> None:
    if config.stash.get(FRONT, None) is None and any("planned" in getattr(i, "fixturenames", ()) for i in items):
        raise pytest.UsageError("which implementation? give --impl NAME (attnconf list shows the shipped ones)")
    items[:] = [i for i in items if getattr(getattr(i, "callspec", None), "id", "") != "NOTSET"]  # nothing of its kind


def _select(front: Front, config: pytest.Config) -> None:
    """Let ``-k`` choose by requirement and by case: an item runs with those of its cases that fit."""
    from attnconf.conformance.run.plan import select
    from attnconf.conformance.run.selection import by_expression, nothing_selected

    try:
        keep, race = by_expression(config.option.keyword)
    except ValueError as error:
        raise pytest.UsageError(f"-k {error}") from None
    timed = sorted({entrant.case.name for entrant in front.run.entrants})
    whole = front.run.plan
    front.run.plan = select(whole, keep)
    if front.run.races:
        front.run.races.plan = [entrant for entrant in front.run.races.plan if race(entrant)]
    if not front.run.plan.planned and not front.run.entrants and not front.unjudgeable:
        near = [name for name in timed if config.option.keyword in name]
        such = f"; cases with such names: {', '.join(near)}" if near else ""
        raise pytest.UsageError(f"-k {nothing_selected(config.option.keyword, whole)}{such}")
    config.option.keyword = ""


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    """Show the progress of a long run on a terminal, in place of pytest's dots; end it at Ctrl-C."""
    front = session.config.stash.get(FRONT, None)
    if front is None:
        return (yield)
    try:
        with progress.counted(len(session.items), "judging") as front.count:
            return (yield)
    except KeyboardInterrupt:  # pytest would write of its own options
        front.interrupted = True
        return True


@pytest.fixture
def judge(request: pytest.FixtureRequest) -> Any:
    """Return the function that judges one planned check; it fails for an implementation that cannot be judged."""
    front = request.config.stash[FRONT]

    def judge_one(planned: Any) -> None:
        if not hasattr(planned, "entry"):
            if planned.lacking and front.run.plan.planned:  # where nothing else was asked, nothing was judged
                pytest.skip(f"{planned.name} {planned.reason}")
            pytest.fail(f"{planned.name} cannot be judged: {planned.reason}", pytrace=False)
        from attnconf.conformance.run.relate import relate

        judged = front.judge(planned)
        if judged.outcome in ("unsupported", "not-applicable", "not-run"):
            pytest.skip(f"{judged.outcome}: {judged.message}")
        if judged.outcome == "pass":
            return
        deviation = relate(front.run).deviations.get(planned.id)
        if deviation:
            pytest.xfail(deviation.reason)
        must = judged.requirement.strength == "MUST"  # also of what is not recognised, where it does not count
        if judged.outcome == "fail" and not must and not front.run.counts(planned):
            pytest.xfail(f"a {judged.requirement.strength} that does not hold: {judged.message}")
        pytest.fail(f"{judged.requirement.id}: {judged.message}", pytrace=False)

    return judge_one


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    front = session.config.stash.get(FRONT, None)
    if front is None:
        return
    from attnconf.conformance.run.explain import explain_failures
    from attnconf.conformance.run.relate import stale
    from attnconf.conformance.source.exception_words import fault_of_ours

    front.interrupted |= front.interrupts.asked
    if front.interrupted and any(judged.outcome == "fail" for judged in front.run.outcomes.values()):
        printing.show(_reporter(session.config), [STOPPING])
    try:
        if front.run.outcomes:
            with front.interrupts.heeded():
                explain_failures(front.run)
    except KeyboardInterrupt:
        front.interrupted = True
    except Exception as fault:  # the checks stand without an explanation
        front.findings.append(f"not explained: {fault_of_ours(fault)}")
    front.save()
    front.findings += [*stale(front.run), *([front.unwritten] if front.unwritten else [])]
    if front.interrupted:
        front.findings.append(printing.kept(front.run, front.results, bool(front.unwritten)))
        session.exitstatus = pytest.ExitCode.INTERRUPTED
    elif exitstatus == 0 and (front.findings or front.run.broken or not front.run.complete):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    lingering.end_with(int(session.exitstatus), within=1)


def pytest_terminal_summary(exitstatus: int, config: pytest.Config) -> None:
    front = config.stash.get(FRONT, None)
    if front is None or exitstatus == pytest.ExitCode.USAGE_ERROR:
        return
    findings = [*front.too_slow, *front.findings]
    printing.show_page(_reporter(config), front.run, front.verbosity, findings, unfinished=front.interrupted)
