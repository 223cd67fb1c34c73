"""Print how long the suite takes, cold, as a user would start it: `python tests/benchmark.py > reports/speed.md`.

All figures of the report are from one run, on a machine that does nothing else: it takes about 20 minutes.
"""

import os
import platform
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTEST = [sys.executable, "-m", "pytest", "-q"]
ATTNCONF = [sys.executable, "-m", "attnconf"]
IMPORT = [sys.executable, "-c", "import torch"]
WORKERS = ["-n", "2", "--dist", "worksteal"]


@dataclass(frozen=True)
class Command:
    """A command to time; ``goal`` in seconds, or, where it is timed in turn with `import torch`, in multiples of it."""

    name: str
    words: list[str]
    times: int = 5
    goal: float | None = None
    in_turn: bool = False


COMMANDS = [
    Command("`attnconf --help`", [*ATTNCONF, "--help"], goal=0.3),
    Command("`attnconf list`", [*ATTNCONF, "list"], goal=0.3),
    Command(
        "`pytest conformance --impl=tests/submissions/right/att_minigpt.py`",
        [*PYTEST, "conformance", "--impl=tests/submissions/right/att_minigpt.py"], goal=1.5, in_turn=True,
    ),
    Command(
        "`pytest conformance --impl=reference`", [*PYTEST, "conformance", "--impl=reference"], goal=2.2, in_turn=True
    ),
    Command(
        "the same where everything fails, attention alone",
        [*PYTEST, "conformance", "--impl=tests/miniatures/all_wrong.py"], in_turn=True,
    ),
    Command("`--impl=reference --profile=full`, the checks that train among them",
            [*PYTEST, "conformance", "--impl=reference", "--profile=full"], 1, 180.0),
    Command("the kill matrix, two workers", [*PYTEST, *WORKERS, "tests/run/test_kill_matrix.py"], 1, 180.0),
    Command("the submissions, two workers", [*PYTEST, *WORKERS, "tests/collection"], 1),
    Command("collecting all tests", [*PYTEST, "--collect-only"], 1, 5.0),
    Command("all tests, two workers", [*PYTEST, *WORKERS], 1, 420.0),
]  # fmt: skip


def seconds(words: list[str]) -> float:
    """Return the wall time of a command in a process of its own."""
    start = time.perf_counter()
    subprocess.run(words, cwd=ROOT, capture_output=True, check=False, env=os.environ | {"COLUMNS": "120"})
    return time.perf_counter() - start


def row(command: Command) -> str:
    """Return the line of the table: medians, the slowest, and the multiple of `import torch` timed in turn with it."""
    taken, imports = [], []
    for _ in range(command.times):
        if command.in_turn:
            imports.append(seconds(IMPORT))
        taken.append(seconds(command.words))
    median = statistics.median(taken)
    multiple = f"{median / statistics.median(imports):.2f}" if imports else ""
    unit = "× import" if command.in_turn else "s"
    goal = f"{command.goal:g} {unit}" if command.goal else ""
    return f"| {command.name} | {median:.2f} | {max(taken):.2f} | {multiple} | {command.times} | {goal} |"


def main() -> None:
    print("# How fast the suite is\n")
    print("Made by `python tests/benchmark.py`. Wall time of a cold process; median of the runs, and the slowest.")
    print("Multiples are of `import torch`, a process of its own before each run: the median by its median.\n")
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}.\n")
    print("| What | Median (s) | Slowest (s) | × `import torch` | Runs | Goal |\n|---|---|---|---|---|---|")
    print(row(Command("`import torch`, for comparison", IMPORT)), flush=True)
    for command in COMMANDS:
        print(row(command), flush=True)


if __name__ == "__main__":
    main()
