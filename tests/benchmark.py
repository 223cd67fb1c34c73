"""Print how long the suite takes, cold, as a user would start it: `python tests/benchmark.py [> reports/speed.md]`."""

import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTEST = [sys.executable, "-m", "pytest", "-q"]
COMMANDS = [
    ("`import torch`, for comparison", [sys.executable, "-c", "import torch"], 5, None),
    ("`attnconf --help`", [sys.executable, "-m", "attnconf", "--help"], 5, 0.3),
    ("`attnconf list`", [sys.executable, "-m", "attnconf", "list"], 5, 0.3),
    ("`pytest conformance --impl=reference`", [*PYTEST, "conformance", "--impl=reference"], 5, 6.0),
    ("the same where everything fails", [*PYTEST, "conformance", "--impl=tests/miniatures/all_wrong.py"], 5, None),
    (
        "`--profile full`, the checks that train among them",
        [*PYTEST, "conformance", "--impl=reference", "--profile=full"],
        1,
        180.0,
    ),
    ("the kill matrix", [*PYTEST, "tests/run/test_kill_matrix.py"], 1, 180.0),
    ("all tests", [*PYTEST], 1, 480.0),
]


def seconds(command: list[str], times: int) -> list[float]:
    """Return the wall times of a command, each in a process of its own."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        subprocess.run(command, cwd=ROOT, capture_output=True, check=False, env=os.environ | {"COLUMNS": "120"})
        taken.append(time.perf_counter() - start)
    return taken


def main() -> None:
    print("# How fast the suite is\n")
    print("Made by `python tests/benchmark.py`. Wall time of a cold process; median of the runs, and the slowest.\n")
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}.\n")
    print("| What | Median (s) | Slowest (s) | Runs | Goal (s) |\n|---|---|---|---|---|")
    for name, command, times, goal in COMMANDS:
        taken = seconds(command, times)
        goal_text = "" if goal is None else f"{goal:g}"
        print(f"| {name} | {statistics.median(taken):.2f} | {max(taken):.2f} | {times} | {goal_text} |", flush=True)


if __name__ == "__main__":
    main()
