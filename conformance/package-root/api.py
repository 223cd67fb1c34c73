"""``attnconf.check``: the same as ``attnconf run``, for a script or a notebook, without pytest."""

import contextlib
import io
import json
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import torch

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.engine import coverage
from attnconf.conformance.engine.request import Implementation, Unjudgeable
from attnconf.conformance.loading import deviations, find
from attnconf.conformance.run import implementations, selection
from attnconf.conformance.run.explain import explain_failures
from attnconf.conformance.run.judging import judge_all
from attnconf.conformance.run.plan import Plan, Settings, make_plan, select
from attnconf.conformance.run.record import record
from attnconf.conformance.source import source_text
from attnconf.conformance.source.exception_words import first_line
from attnconf.reports import failures, notebook, terminal
from attnconf.reports import record as files
from attnconf.spec import profiles, registry
from attnconf.spec.nearest import hint

WORST_FIRST = ("not-gradable", "nonconformant", "unrecognised", "incomplete", "conformant")


class CheckError(ValueError):
    """The caller's mistake, in one line."""


@dataclass(frozen=True)
class FailedRequirement:
    """A requirement that fails at the root: no requirement that it presupposes fails."""

    implementation: str
    component: str
    requirement: str
    strength: str  # MUST, SHOULD or MAY
    sentence: str
    message: str
    likely: str | None  # the known mistake that gives the very same output
    hint: str | None  # how to fix it; without a known mistake, what to look at first
    where: str | None  # the place in the file, or the function
    consequences: tuple[str, ...]  # ids of its consequences
    spec: str


class Report:
    """The result of ``attnconf.check``: prints as in a terminal, shows itself in a notebook, is true if ``ok``."""

    def __init__(self, content: dict[str, Any], is_object: bool = False):
        self.record = content  # as reports/schema/results-1.json describes it
        self._is_object = is_object  # the target is an object, not a name

    @property
    def verdict(self) -> str:
        """The worst verdict of a component: conformant, incomplete, unrecognised, nonconformant or not-gradable."""
        verdicts = [v["verdict"] for v in self.record["verdicts"]]
        return next(verdict for verdict in WORST_FIRST if verdict in verdicts)

    @property
    def ok(self) -> bool:
        """Whether every component is conformant, or every selected check passed."""
        outcomes = {r["outcome"] for r in self.record["results"]}
        chosen = self.record["suite"]["selected"] and outcomes <= {"pass", "not-applicable"} and "pass" in outcomes
        return chosen or self.verdict == "conformant"

    def __bool__(self) -> bool:
        return self.ok

    @property
    def counts(self) -> dict[str, int]:
        """The number of requirements by outcome."""
        return dict(sorted(Counter(r["outcome"] for r in self.record["results"]).items()))

    @property
    def failures(self) -> list[FailedRequirement]:
        """The failures at the root, MUST first."""
        return [self._failure(result) for result in failures.roots(self.record)]

    def _failure(self, r: dict[str, Any]) -> FailedRequirement:
        unnamed = {"story": None, **(r["advice"] or {"hint": None, "where": None})}
        mistake, following = (*r["diagnosis"], unnamed)[0], tuple(failures.consequences(self.record, r))
        return FailedRequirement(
            r["implementation"], r["component"], r["requirement"], r["strength"], r["sentence"], r["message"],
            mistake["story"], mistake["hint"], mistake["where"], following, r["spec"],
        )  # fmt: skip

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the record as JSON; with a path, also write it to a results file for ``attnconf report``."""
        if path is not None:
            files.write(Path(path), self.record)
        return json.dumps(self.record, indent=1, ensure_ascii=False, allow_nan=False)

    def __str__(self) -> str:
        columns = terminal.width()
        lines = [*terminal.header(self.record, columns), *terminal.page(self.record, columns)]
        return "\n".join(map(self._in_python, lines))

    def __repr__(self) -> str:
        counts = ", ".join(f"{n} {outcome}" for outcome, n in self.counts.items())
        return f"<attnconf.Report: {self.verdict} ({counts}); print(report) shows it all>"

    def _repr_html_(self) -> str:
        return notebook.html(self.record, self._in_python)

    def _in_python(self, line: str) -> str:
        """Return the rerun line in Python, for a target without a name on the command line."""
        if not self._is_object or not line.startswith("  rerun "):
            return line
        command = re.search(r"--impl=(.+?)((?: --\w+=\S+)*) -k (\".*\")", line)
        options = "".join(f", {o.replace('--', '')}" for o in command[2].split()) if command else ""
        options = re.sub(r"(device|profile)=([^\s,]+)", r'\1="\2"', options)
        return f"  rerun     attnconf.check({command[1]}, select={command[3]}{options})" if command else line


def check(target: Any, component: str | None, expression: str | None, settings: Settings) -> Report:
    """Return the report on ``target``; see ``attnconf.check``."""
    try:
        if settings.blind_spots and not coverage.available():
            raise CheckError(coverage.MISSING)
        _check_names(component, settings)
        with _kept_as_it_is():
            plan = make_plan(_find(target, component), settings)
            run = judge_all(_selected(plan, expression) if expression else plan)
            explain_failures(run)
            return Report(record(run), not isinstance(target, str | Path))
    except (find.LoadError, registry.SpecError, deviations.DeviationError) as error:
        raise CheckError(str(error)) from None


def _check_names(component: str | None, settings: Settings) -> None:
    """Raise CheckError for unknown components, profiles, … before foreign code is run."""
    profiles.load(settings.profile or profiles.DEFAULT)
    if component is not None and component not in COMPONENTS:
        there_are = f"there are {', '.join(COMPONENTS)}{hint(component, COMPONENTS)}"
        raise CheckError(f"unknown component {component!r}: {there_are}")
    try:
        torch.ones(1, device=settings.device).item()
    except Exception as error:
        raise CheckError(f"device {settings.device!r}: {first_line(error)}") from None


@contextlib.contextmanager
def _kept_as_it_is() -> Iterator[None]:
    """Judge with one thread and in silence; restore threads, precision and random state afterwards."""
    threads, precision = torch.get_num_threads(), torch.get_float32_matmul_precision()
    torch.set_num_threads(1)
    torch.set_float32_matmul_precision("highest")  # no TF32, for the textbook as for what is judged
    try:
        printed = io.StringIO()
        silence = (contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed))
        with torch.random.fork_rng(devices=[]), warnings.catch_warnings(action="ignore"), silence[0], silence[1]:
            yield
    finally:
        torch.set_num_threads(threads)
        torch.set_float32_matmul_precision(precision)


def _find(target: Any, component: str | None) -> list[Implementation | Unjudgeable]:
    if isinstance(target, str | Path):
        return implementations.load(f"{target}@{component}" if component else str(target))
    if isinstance(target, ModuleType):
        return implementations.load_module(target, component)
    if isinstance(target, Mapping):
        module = ModuleType("functions")
        vars(module).update({str(name): function for name, function in target.items()})
        kept = source_text.keep("functions", target.values())
        loaded = implementations.load_module(module, component)
        return [replace(i, source=kept) if kept and isinstance(i, Implementation) else i for i in loaded]
    if isinstance(target, type | FunctionType):
        from attnconf.conformance.inference import infer_object

        return [infer_object(target, component)]
    raise CheckError(_refusal(target))


def _refusal(target: Any) -> str:
    """Return why a target cannot be judged; for an instance of a class, that the class is wanted."""
    kind = type(target)
    if kind.__module__ == "builtins":
        return f"found {target!r:.60}, want a path, a class, a function, or a module or dict of adapter functions"
    return (
        f"found an object of {kind.__name__}, want the class: it is built anew for every case, "
        f"with sizes and weights of ours: attnconf.check({kind.__name__})"
    )


def _selected(plan: Plan, expression: str) -> Plan:
    try:
        chosen = select(plan, selection.by_expression(expression)[0])
    except ValueError as error:
        raise CheckError(f"select={error}") from None
    if not chosen.planned:
        raise CheckError(f"select={selection.nothing_selected(expression, plan)}")
    return chosen
