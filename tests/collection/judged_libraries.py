"""Classes of libraries, judged by their names as anybody would: no adapter, default profile.

``python tests/collection/judged_libraries.py [PATTERN]`` judges each in a process of its own, and writes their rows of
the report; a library that is not installed keeps the rows that it has. libraries.toml lists the classes.
"""

import contextlib
import importlib.util
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
import tomllib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from attnconf.reports.studies.public_clones import outcome

LIST = Path(__file__).with_name("libraries.toml")
REPORT = Path(__file__).parents[2] / "reports" / "libraries.md"
SECONDS = 120  # of a processor, for one class
SAMPLE = (
    "torch.nn:RMSNorm",
    "torch.nn:LayerNorm",
    "torch.nn:MultiheadAttention",
    "keras.layers:RMSNormalization",
    "equinox.nn:RMSNorm",
    "transformers.models.llama.modeling_llama:LlamaRMSNorm",
    "transformers.models.gpt2.modeling_gpt2:GPT2MLP",
)  # in every run of the tests: seconds, all together
HEAD = """\
# Classes of libraries by their names

Each is judged by `attnconf run --impl MODULE:CLASS`, without an adapter.
Made by `python tests/collection/judged_libraries.py`; tests/collection/test_libraries.py holds it to what comes out.
"""
COLUMNS = ("Class", "Version", "Component", "Verdict", "Choices", "What is said of it", "Seconds", "Right, or why")


@dataclass(frozen=True)
class Listed:
    """A class of the list."""

    module: str
    name: str
    component: str
    verdict: str = "conformant"  # the one that is right
    why: str = ""  # it is another one

    @property
    def label(self) -> str:
        return f"{self.module}:{self.name}"

    @property
    def library(self) -> str:
        return self.module.partition(".")[0]


@dataclass(frozen=True)
class Row:
    """What came out, in the order of the table's columns behind the class."""

    version: str
    component: str
    verdict: str
    choices: str
    said: str
    seconds: str

    @property
    def came_out(self) -> tuple[str, str, str]:
        """What another run on the same versions must give."""
        return self.component, self.verdict, self.choices


@cache
def listed() -> tuple[Listed, ...]:
    """Return all classes of the list, in its order."""
    found = []
    for module, classes in tomllib.loads(LIST.read_text(encoding="utf-8")).items():
        for name, entry in classes.items():
            told = {"component": entry} if isinstance(entry, str) else entry
            found.append(Listed(module, name, **told))
    return tuple(found)


def is_there(library: str) -> bool:
    """Return whether a library is installed."""
    return importlib.util.find_spec(library) is not None


def judge(one: Listed) -> Row:
    """Return what comes of a class in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder, "results.json")
        command = [sys.executable, "-m", "attnconf", "run", f"--impl={one.label}", "--results", str(results)]
        before = _processors()
        subprocess.run(
            command, cwd=folder, capture_output=True, env=os.environ | {"OMP_NUM_THREADS": "1"},
            preexec_fn=partial(resource.setrlimit, resource.RLIMIT_CPU, (SECONDS, SECONDS)),
        )  # fmt: skip
        seconds = _processors() - before
        record = json.loads(results.read_text(encoding="utf-8")) if results.is_file() else None
    return row(one, record, seconds)


def judged_here(one: Listed) -> Row:
    """Return what comes of a class in this process, without a limit."""
    from attnconf.conformance.run import implementations
    from attnconf.conformance.run import judge as judge_run
    from attnconf.conformance.run import record as results

    with warnings.catch_warnings(action="ignore"), contextlib.redirect_stderr(io.StringIO()):
        return row(one, results.record(judge_run(implementations.load(one.label))), 0)


def sample(every: Sequence[Listed]) -> list[Listed]:
    """Return the classes that each run of the tests judges: of each library one that takes a moment."""
    return [one for one in every if one.label in SAMPLE]


def _processors() -> float:
    """Return the seconds that the processes started here have computed."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def row(one: Listed, record: dict[str, Any] | None, seconds: float) -> Row:
    """Return the row of a results file."""
    found = outcome(record)
    late = record is not None and not record["complete"]
    choices = [v["choices"] for v in record["verdicts"]] if record else []
    said = f"not done in {SECONDS} s" if late or record is None else found["reason"]
    said = "; ".join(filter(None, (said, ", ".join(found["named"]))))
    return Row(
        version_of(one.library),
        ", ".join(found["components"]),
        "late" if late else found["verdict"],
        ", ".join(f"{name}: {choice}" for chosen in choices for name, choice in chosen.items()),
        " ".join(said.replace("|", "/").split())[:240],
        str(round(seconds)),
    )


def version_of(library: str) -> str:
    """Return the version of the package that has a library."""
    from importlib.metadata import packages_distributions, version

    return version(packages_distributions()[library][0])


def as_expected(one: Listed, row: Row) -> bool:
    """Return whether a class was judged as what it is."""
    return row.verdict == one.verdict and (one.component in row.component.split(", ") or row.verdict == "not-gradable")


def standing(one: Listed, row: Row) -> str:
    """Return "right", with the reason where it is another verdict than most have; "open" where it is not right yet."""
    return "; ".join(filter(None, ("right", one.why))) if as_expected(one, row) else "open"


def committed() -> dict[str, Row]:
    """Return the rows that stand in the report, by class."""
    lines = REPORT.read_text(encoding="utf-8").splitlines() if REPORT.is_file() else []
    cells = [[c.strip() for c in line.split("|")[1:-1]] for line in lines if line.startswith("| ") and ":" in line]
    return {name: Row(*others) for name, *others, _ in cells if len(others) == len(COLUMNS) - 2}


def page(rows: dict[str, Row]) -> str:
    """Return reports/libraries.md."""
    there = [(one, rows[one.label]) for one in listed() if one.label in rows]
    right = sum(as_expected(one, row) for one, row in there)
    lines = [HEAD, f"{len(there)} of {len(listed())} listed classes were judged: {right} as what they are."]
    lines += ["", f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
    lines += [f"| {' | '.join((one.label, *vars(row).values(), standing(one, row)))} |" for one, row in there]
    return "\n".join(lines) + "\n"


def main() -> None:
    pattern = sys.argv[1] if len(sys.argv) > 1 else ""
    for one in listed():
        if pattern in one.label and is_there(one.library):
            row = judge(one)
            print(standing(one, row), one.label, *vars(row).values(), sep=" | ", flush=True)
            REPORT.write_text(page(committed() | {one.label: row}), encoding="utf-8")


if __name__ == "__main__":
    main()
