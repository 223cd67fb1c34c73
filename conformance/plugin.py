"""The pytest front end: ``pytest conformance --impl NAME``. Options, items, and what is printed at the end."""

import difflib
import os
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from attnconf.conformance import printing, progress
from attnconf.spec import profiles, registry

if TYPE_CHECKING:
    from attnconf.conformance.loading import Unjudgeable
    from attnconf.conformance.session import Planned, Session

SESSION: pytest.StashKey["Run"] = pytest.StashKey()
SILENT = -2  # the verbosity at which pytest prints no header of its own, and no counts
TIMING = Path(__file__).with_name("test_throughput.py")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("attnconf", "conformance of attention implementations")
    group.addoption("--impl", action="append", default=[], metavar="NAME", help=(
        "what to judge, may be given several times: an adapter's name or an entry point, optionally with :variant; a "
        "path to a .py file or notebook, or a dotted module, optionally with :ClassOrFunction; each optionally with "
        "@component"))  # fmt: skip
    group.addoption("--results", type=Path, metavar="FILE.json", help="write everything to this file")
    group.addoption("--profile", metavar="NAME", help=f"what a verdict requires (default: {profiles.DEFAULT})")
    group.addoption("--thorough", action="store_true", help="also explore around the scored cases; never scored")
    group.addoption("--blind-spots", action="store_true", help=(
        "list what no check executed of your own file; on in a full profile (needs the extra coverage)"))  # fmt: skip
    group.addoption("--convention", action="append", default=[], metavar="NAME=CHOICE", help=(
        "hold what is judged to a convention, as in mask=true-keeps; may be given several times"))  # fmt: skip
    group.addoption("--seed", type=int, default=0, metavar="N", help="draw other numbers for the cases (default: 0)")
    group.addoption("--throughput", nargs="?", const="smoke", metavar="smoke|grid", help=(
        "also count what a call costs, and time it beside an anchor, in a few cases (default) or in a grid; no verdict "
        "depends on it"))  # fmt: skip
    group.addoption("--strict-perf", action="store_true", help="let a time that is not FASTER or SAME fail")
    group.addoption("--device", default="cpu", metavar="NAME", help="where tensors live: cpu, cuda, … (default: cpu)")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> None:
    """Load pytest-benchmark where throughput is asked for; else it is not even imported."""
    args[:] = ["--throughput=smoke" if word == "--throughput" and not _is_a_choice(args, i) else word
               for i, word in enumerate(args)]  # fmt: skip  # what follows is no choice, but a folder of tests
    if any(word.partition("=")[0] == "--throughput" for word in args):
        for plugin in ("pytest_benchmark.plugin", "attnconf.conformance.benchmarks"):
            early_config.pluginmanager.import_plugin(plugin)


def _is_a_choice(words: list[str], index: int) -> bool:
    return words[index + 1 : index + 2] in (["smoke"], ["grid"])


class Run:
    """A session under pytest: judging on demand, and a results file that is valid at any time."""

    def __init__(self, session: "Session", results: Path | None):
        self.session = session
        self.results = results
        self.written = 0.0
        self.patience = 0.5  # seconds between two writings; more where writing takes long
        self.unwritten: str | None = None  # why the results file could not be written
        self.findings: list[str] = []
        self.too_slow: list[str] = []  # where time is asked to decide
        self.verbosity = 0  # of pytest: 1 is -v, -1 is -q
        self.count: Callable[[], object] = lambda: None  # called after each judgement

    @property
    def unjudgeable(self) -> "list[Unjudgeable]":
        from attnconf.conformance.loading import Unjudgeable

        return [i for i in self.session.implementations if isinstance(i, Unjudgeable)]

    def judge(self, planned: "Planned") -> Any:
        judged = self.session.run(planned)
        self.count()
        self.save_now_and_then()
        return judged

    def save_now_and_then(self) -> None:
        if self.results and time.monotonic() - self.written > self.patience:
            self.save()

    def save(self) -> None:
        from attnconf.conformance.results import record
        from attnconf.reports.record import write

        if not self.results:
            return
        start = time.monotonic()
        try:
            write(self.results, record(self.session))
            self.unwritten = None
        except OSError as error:  # a full disk is said at the end, and does not end the run
            self.unwritten = f"--results {self.results}: {error.strerror or error}"
        self.written = time.monotonic()
        self.patience = max(0.5, 20 * (self.written - start))


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("--impl"):
        return
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):  # one thread on small work, before torch is imported
        os.environ.setdefault(variable, "1")
    path = _results(config.getoption("--results"))
    config.option.tbstyle = "no"  # failures are shown once, at the end, with their consequences folded
    config.option.reportchars = ""
    verbosity, config.option.verbose = config.option.verbose, SILENT
    if not any(word.startswith("--benchmark") for word in config.invocation_params.args):
        config.option.benchmark_quiet = True  # its table is shown to those who ask it for something
    run = Run(_session(config), path)
    run.verbosity = verbosity
    progress.terminal = progress.find_terminal()
    run.save()
    if run.unwritten:
        raise pytest.UsageError(run.unwritten)
    config.stash[SESSION] = run


def pytest_unconfigure() -> None:
    if progress.terminal is not None:
        progress.terminal.close()
        progress.terminal = None


def _results(path: Path | None) -> Path | None:
    """Return where to write, absolute: an implementation may change the working folder."""
    if path is not None and not path.absolute().parent.is_dir():
        raise pytest.UsageError(f"--results {path}: there is no folder {str(path.absolute().parent)!r}")
    if path is not None and path.is_dir():
        raise pytest.UsageError(f"--results {path} is a folder, want a file")
    if (
        path is not None
        and path.is_file()
        and b'"attnconf-results/' not in path.read_bytes()[:200]
        and path.stat().st_size
    ):
        raise pytest.UsageError(
            f"--results {path}: there is a file of this name that holds no results; it is left alone"
        )
    return path and path.absolute()


def _session(config: pytest.Config) -> "Session":
    import gc

    import torch

    from attnconf.conformance import blind_spots, deviations, loading, prescribed
    from attnconf.conformance.session import Session, Settings

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    gc.freeze()  # a collection would walk all of torch
    device = config.getoption("--device")
    _check_device(device)
    if config.getoption("--blind-spots") and not blind_spots.available():
        raise pytest.UsageError(f"--blind-spots: {blind_spots.MISSING}")
    throughput = _throughput(config, device)
    try:
        profiles.load(config.getoption("--profile") or profiles.DEFAULT)  # before foreign code is run
        choices = prescribed.parse(config.getoption("--convention"))
        found = [i for name in config.getoption("--impl") for i in loading.load(name, choices)]
        torch.set_float32_matmul_precision("highest")  # no TF32, for the textbook as for what is judged
        settings = Settings(
            config.getoption("--profile"), config.getoption("--seed"), device,
            bool(config.getini("strict")), config.getoption("--thorough"),  # --strict is pytest's own
            config.getoption("--blind-spots"), throughput, choices,
        )  # fmt: skip
        session = Session(list({i.name: i for i in found}.values()), settings)
        session.make_plan()
    except (loading.LoadError, registry.SpecError, deviations.DeviationError, prescribed.PrescriptionError) as error:
        raise pytest.UsageError(str(error)) from None
    return session


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


def _check_device(device: str) -> None:
    import torch

    try:
        torch.ones(1, device=device).item()  # "meta" has no numbers
    except Exception as error:
        raise pytest.UsageError(f"--device {device}: {str(error).splitlines()[0]}") from None


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Print what is judged with what, in place of pytest's own header."""
    run = session.config.stash.get(SESSION, None)
    if run is not None and run.verbosity >= 0:
        printing.show_header(_reporter(session.config), run.session, run.verbosity)


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: pytest.TestReport, config: pytest.Config) -> tuple[str, str, str] | None:
    """Print no dot for a check: what failed is told at the end."""
    return ("", "", "") if config.stash.get(SESSION, None) is not None and report.when == "call" else None


def _reporter(config: pytest.Config) -> Any:
    return config.pluginmanager.get_plugin("terminalreporter")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "planned" not in metafunc.fixturenames:
        return
    run = metafunc.config.stash.get(SESSION, None)
    params = [*run.unjudgeable, *run.session.plan] if run else []
    metafunc.parametrize("planned", params, ids=[getattr(p, "id", getattr(p, "name", "")) for p in params])


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    asked = config.getoption("--throughput") is not None
    return True if collection_path == TIMING and not asked else None


def pytest_collection(session: pytest.Session) -> None:
    run = session.config.stash.get(SESSION, None)
    if run is not None and session.config.option.keyword:
        _select(run, session.config)


def pytest_collection_modifyitems(config: pytest.Config, items: list[Any]) -> None:
    if config.stash.get(SESSION, None) is None and any("planned" in getattr(i, "fixturenames", ()) for i in items):
        raise pytest.UsageError("which implementation? give --impl NAME (attnconf list shows the shipped ones)")
    items[:] = [i for i in items if getattr(getattr(i, "callspec", None), "id", "") != "NOTSET"]  # nothing of its kind


def _select(run: Run, config: pytest.Config) -> None:
    """Let ``-k`` choose by requirement and by case: an item runs with those of its cases that fit."""
    from attnconf.conformance.selecting import by_expression

    try:
        keep, race = by_expression(config.option.keyword)
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None
    cases = sorted({entrant.case.name for entrant in run.session.entrants})
    run.session.select(keep, race)
    if not run.session.plan and not run.session.entrants and not run.unjudgeable:
        near = [name for name in cases if config.option.keyword in name]
        near = near or difflib.get_close_matches(config.option.keyword, cases)
        hint = f"; cases with such names: {', '.join(near)}" if near else ""
        raise pytest.UsageError(f"-k {config.option.keyword!r} selects nothing{hint}")
    config.option.keyword = ""


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    """Show how far a long run has come, on a terminal, in place of pytest's dots."""
    run = session.config.stash.get(SESSION, None)
    if run is None:
        return (yield)
    with progress.counted(len(session.items), "judging") as run.count:
        return (yield)


@pytest.fixture
def judge(request: pytest.FixtureRequest) -> Any:
    """Return the function that judges one planned check, or says why an implementation cannot be judged."""
    run = request.config.stash[SESSION]

    def judge_one(planned: Any) -> None:
        if not hasattr(planned, "entry"):
            if planned.lacking and run.session.plan:  # where nothing else was asked, nothing was judged
                pytest.skip(f"{planned.name} {planned.reason}")
            pytest.fail(f"{planned.name} cannot be judged: {planned.reason}", pytrace=False)
        judged = run.judge(planned)
        if judged.outcome in ("unsupported", "not-applicable", "not-run"):
            pytest.skip(f"{judged.outcome}: {judged.message}")
        if judged.outcome == "pass":
            return
        deviation = run.session.deviation(planned) if judged.outcome == "fail" else None
        if deviation:
            pytest.xfail(deviation.reason)
        if judged.outcome == "fail" and judged.requirement.strength != "MUST" and not run.session.settings.strict:
            pytest.xfail(f"a {judged.requirement.strength} that does not hold: {judged.message}")
        pytest.fail(f"{judged.requirement.id}: {judged.message}", pytrace=False)

    return judge_one


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    run = session.config.stash.get(SESSION, None)
    if run is None:
        return
    if run.session.outcomes:
        run.session.explain()
    run.save()
    run.findings = [*run.session.stale(), *([run.unwritten] if run.unwritten else [])]
    if exitstatus == 0 and (run.findings or not run.session.complete):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(exitstatus: int, config: pytest.Config) -> None:
    run = config.stash.get(SESSION, None)
    if run is None or exitstatus == pytest.ExitCode.USAGE_ERROR:
        return
    printing.show_page(_reporter(config), run.session, run.verbosity, [*run.too_slow, *run.findings])
