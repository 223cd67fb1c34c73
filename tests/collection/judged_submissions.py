"""The collection of submissions, judged as somebody's own files are: no adapter, default profile, one process each.

``python tests/collection/judged_submissions.py [PATTERN]`` prints what came out, and writes the report if all were run.
"""

import contextlib
import io
import json
import multiprocessing
import sys
import tempfile
import time
import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

FOLDER = Path(__file__).parents[1] / "submissions"
REPORT = Path(__file__).parents[2] / "reports" / "submissions.md"
OPEN = "open.toml"  # files of which a goal is not reached yet, and why


@dataclass(frozen=True)
class Submission:
    """What the index says of a file."""

    file: str
    right: bool
    component: str
    mistakes: tuple[str, ...] = ()
    story: str = ""
    deviations: tuple[str, ...] = ()  # of a right file: what is named at SHOULDs


@dataclass(frozen=True)
class Judged:
    """What came out."""

    verdicts: tuple[tuple[str, str], ...]  # (component, verdict)
    reason: str
    named: tuple[str, ...]  # the mistakes that are named at roots that are MUSTs
    seconds: float
    written: bool = True  # the adapter that `bind` writes gives the same results
    deviations: tuple[str, ...] = ()  # likewise, at SHOULDs

    @property
    def conformant(self) -> bool:
        return bool(self.verdicts) and all(verdict == "conformant" for _, verdict in self.verdicts)

    @property
    def nonconformant(self) -> bool:
        return any(verdict == "nonconformant" for _, verdict in self.verdicts)


@cache
def submissions() -> tuple[Submission, ...]:
    """Return all files of the collection, in the order of the indices."""
    found = []
    for path in sorted(FOLDER.glob("*.toml")):
        if path.name == OPEN:
            continue
        index = tomllib.loads(path.read_text(encoding="utf-8"))
        found += [
            Submission(e["file"], True, e["component"], deviations=tuple(e.get("deviation", ())))
            for e in index.get("right", ())
        ]
        found += [
            Submission(e["file"], False, e["component"], tuple(e["mistake"]), e["story"])
            for e in index.get("wrong", ())
        ]
    return tuple(found)


@cache
def still_open() -> dict[str, dict[str, str]]:
    """Return, by file, which goal is not reached yet ("verdict", "name") and why."""
    path = FOLDER / OPEN
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def judge(path: str) -> Judged:
    """Return what comes of a file, a notebook or an adapter."""
    import torch

    from attnconf.conformance import inference
    from attnconf.conformance.inference import writing
    from attnconf.conformance.run import implementations, judge
    from attnconf.conformance.run import record as results
    from attnconf.reports import record as records
    from attnconf.reports.form import problem

    torch.set_num_threads(1)
    once = _once(inference.bindings)  # it takes seconds, and is used twice
    start = time.process_time()
    with (
        mock.patch.object(inference, "bindings", once),
        mock.patch.object(writing, "bindings", once),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        run = judge(implementations.load(path))
        record = results.record(run)
        took = time.process_time() - start
        assert not (wrong := problem(record, json.loads(records.PAGE.read_text(encoding="utf-8")))), wrong
        written = not run.plan.planned or _outcomes(run) == _outcomes_of_written(path)
    verdicts = tuple((v["component"] or "", v["verdict"]) for v in record["verdicts"])
    roots = [r for r in record["results"] if r["outcome"] == "fail" and not r["follows_from"]]
    named, deviations = (
        tuple(sorted({m for r in roots if r["strength"] == strength for d in r["diagnosis"] for m in d["mutants"]}))
        for strength in ("MUST", "SHOULD")
    )
    reason = "; ".join(v["reason"] for v in record["verdicts"] if v["reason"])
    return Judged(verdicts, reason, named, took, written, deviations)


def _outcomes(run: Any) -> list[tuple[str, ...]]:
    return sorted(
        (p.entry.component, p.entry.lens, p.entry.requirement, run.outcomes[p.id].outcome) for p in run.plan.planned
    )


def _outcomes_of_written(path: str) -> list[tuple[str, ...]]:
    """Return what comes of the adapter that ``attnconf bind`` writes."""
    from attnconf.conformance.inference.writing import adapter
    from attnconf.conformance.run import implementations
    from attnconf.conformance.run.judging import judge_all
    from attnconf.conformance.run.plan import Settings, make_plan

    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "written_adapter.py"
        written.write_text(adapter(path), encoding="utf-8")
        return _outcomes(judge_all(make_plan(implementations.load(str(written)), Settings())))


def _once(function: Any) -> Any:
    """Return a function that remembers what it found last, and where."""
    last: dict[Path, Any] = {}

    def remembering(source: Any, *args: Any) -> Any:
        if source.path not in last:
            last.clear()
            last[source.path] = function(source, *args)
        return last[source.path]

    return remembering


def judge_all(files: list[str], processes: int = 2) -> dict[str, Judged]:
    """Return what comes of each file, judged side by side."""
    paths = [str(FOLDER / file) for file in files]
    with multiprocessing.get_context("spawn").Pool(processes, maxtasksperchild=20) as pool:
        return dict(zip(files, pool.imap(judge, paths), strict=True))


def standing(submission: Submission, judged: Judged) -> str:
    """Return what is to be said of a file in the table."""
    if submission.right:
        return "conformant" if judged.conformant else "WRONG VERDICT"
    if not judged.nonconformant:
        return "NOT CAUGHT"
    if not judged.named:
        return "caught, not named" if submission.mistakes else "caught"
    return "named" if set(judged.named) & set(submission.mistakes) else "NAMED WRONGLY"


def table(judged: dict[str, Judged]) -> str:
    """Return reports/submissions.md."""
    rows = [(s, judged[s.file], standing(s, judged[s.file])) for s in submissions()]
    right = [r for r in rows if r[0].right]
    wrong = [r for r in rows if not r[0].right]
    count = Counter(r[2] for r in wrong)
    named = f"{count['named']} ({count['named'] / len(wrong):.0%})"
    lines = [
        "# Submissions without an adapter",
        "",
        "The files of `tests/submissions`, which know nothing of this project, judged by `attnconf run --impl=FILE`.",
        "Made by `python tests/collection/judged_submissions.py`; "
        "tests/collection/test_submissions.py holds it to what comes out.",
        "",
        f"* {len(right)} right files: {sum(r[2] == 'conformant' for r in right)} conformant.",
        f"* {len(wrong)} wrong files: {len(wrong) - count['NOT CAUGHT']} nonconformant; "
        f"the mistake of {named} is named, "
        f"{count['caught, not named'] + count['caught']} are caught without a name, "
        f"{count['NAMED WRONGLY']} are named wrongly.",
        "",
        "| File | Component | What is wrong | Outcome | Named |",
        "|---|---|---|---|---|",
    ]
    lines += [f"| {s.file} | {s.component} | {s.story} | {word} | {', '.join(j.named)} |" for s, j, word in rows]
    return "\n".join(lines) + "\n"


def main() -> None:
    pattern = sys.argv[1] if len(sys.argv) > 1 else ""
    chosen = [s for s in submissions() if pattern in s.file]
    judged = judge_all([s.file for s in chosen])
    for s in chosen:
        j = judged[s.file]
        wanted = "" if s.right else f"want {', '.join(s.mistakes)}"
        print(f"{standing(s, j):18} {s.file} {j.seconds:.1f} s {', '.join(j.named)} {wanted} {j.reason[:200]}")
    if not pattern:
        REPORT.write_text(table(judged), encoding="utf-8")


if __name__ == "__main__":
    main()
