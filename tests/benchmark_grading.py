"""Print how fast a class is graded: `python tests/benchmark_grading.py > reports/grading-speed.md`.

On a machine that does nothing else. `--submissions N` takes fewer of one course; the files of tests/submissions are
those of multi-head attention, each in another hand.
"""

import argparse
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

from skeleton_class import submissions

ROOT = Path(__file__).resolve().parents[1]
HANDS = ROOT / "tests" / "submissions"
GOALS = {"one course": 5.0, "many hands": 1.0}  # submissions a second and core


def course(folder: Path, count: int) -> None:
    for number, text in enumerate(submissions(count)):
        (folder / f"student-{number:04}.py").write_text(text)


def hands(folder: Path, count: int) -> None:
    index = tomllib.loads((HANDS / "attention.toml").read_text())
    files = [e["file"] for kind in ("right", "wrong") for e in index[kind] if e["component"] == "multi_head_attention"]
    for file in [one for one in files if one.endswith(".py")][:: max(1, len(files) // count)]:
        shutil.copy(HANDS / file, folder / file.replace("/", "-"))


def graded(make: object, count: int, jobs: int) -> tuple[int, float, int, int]:
    """Return how many were graded, in how many seconds, how many MB the grader took, and how many were judged."""
    with tempfile.TemporaryDirectory() as place:
        folder, out = Path(place, "submissions"), Path(place, "out")
        folder.mkdir()
        make(folder, count)
        words = ["grade", str(folder), "--rubric", "first-attention", "--out", str(out), "--seed", "1"]
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "attnconf", *words, "--jobs", str(jobs)], check=True, stdout=subprocess.DEVNULL,
            stderr=None,
        )  # fmt: skip
        seconds = time.perf_counter() - start
        records = [json.loads(path.read_text()) for path in (out / "records").glob("*.json")]
    of = [record["status"] for record in records]
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    return len(records), seconds, most, sum(s == "judged" for s in of)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--submissions", type=int, default=200)
    arguments = parser.parse_args()
    print("# How fast a class is graded\n")
    print(
        "Made by `python tests/benchmark_grading.py`: `attnconf grade` with the rubric `first-attention`, all layers of"
    )
    print("isolation on, start, plan, binding, diagnosis and all pages included.\n")
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}.\n")
    print("| Submissions | Graded | Judged | Jobs | Seconds | A second and core | Goal | Largest process (MB) |")
    print("|---|---|---|---|---|---|---|---|")
    for name, make in {"one course": course, "many hands": hands}.items():
        for jobs in (1, 2):
            count = arguments.submissions if name == "one course" else min(arguments.submissions, 100)
            n, seconds, most, judged = graded(make, count, jobs)
            rate = n / seconds / jobs
            print(
                f"| {name} | {n} | {judged} | {jobs} | {seconds:.1f} | {rate:.2f} | {GOALS[name]:g} | {most} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
