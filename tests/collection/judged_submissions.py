"""The collection of submissions, judged as somebody's own files are: no adapter, default profile.

``python tests/collection/judged_submissions.py [PATTERN]`` prints what came out, and writes the report, and the list of
files that are judged again from their written adapters, if all were run.

Each file is judged once; what a case keeps from earlier files is compared now and then with what would be computed for
this one (kept_values.py). The adapter that `bind` writes of it must be the text that was run. It is judged as well of
the files in AGAIN, few of which together have every feature that a text of any binder has: a function of
`attnconf.adapters.generated` that the text calls, NumPy's arrays, several classes in one file, a notebook, a binding
that nothing confirmed.
"""

import contextlib
import io
import json
import multiprocessing
import sys
import time
import tomllib
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import kept_values
from written_adapters import compared

FOLDER = Path(__file__).parents[1] / "submissions"
REPORT = Path(__file__).parents[2] / "reports" / "submissions.md"
CERTAIN = tuple(f"binding      equal to {what} on fresh weights" for what in ("the textbook", "a known mistake"))
OPEN = "open.toml"  # files of which a goal is not reached yet, and why
FILES_OF_A_PROCESS = 40  # each keeps what it computed, which gets slow
AGAIN = Path(__file__).with_name("judged_again.txt")  # files that are judged from their written adapters, too


@dataclass(frozen=True)
class Submission:
    """What the index says of a file."""

    file: str
    right: bool
    component: str
    mistakes: tuple[str, ...] = ()
    story: str = ""
    deviations: tuple[str, ...] = ()  # of a right file: what is named at SHOULDs
    rough: bool = False  # right where a MUST asks, but not robust, or not precise: its mistakes are named at SHOULDs


@dataclass(frozen=True)
class Judged:
    """What came out."""

    verdicts: tuple[tuple[str, str], ...]  # (component, verdict)
    reason: str
    named: tuple[str, ...]  # the mistakes that are named at roots that are MUSTs
    seconds: float
    written: str = ""  # how the adapter that `bind` writes differs from what was run
    features: frozenset[str] = frozenset()  # of that adapter's text, each with its binder
    deviations: tuple[str, ...] = ()  # likewise, at SHOULDs
    guessed: tuple[str, ...] = ()  # what makes it nonconformant, of a binding that is not established, and is no law

    @property
    def conformant(self) -> bool:
        return bool(self.verdicts) and all(verdict == "conformant" for _, verdict in self.verdicts)

    @property
    def nonconformant(self) -> bool:
        return any(verdict == "nonconformant" for _, verdict in self.verdicts)

    @property
    def unrecognised(self) -> bool:
        return any(verdict == "unrecognised" for _, verdict in self.verdicts)


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
            Submission(e["file"], True, e["component"], tuple(e["mistake"]), e["story"], rough=True)
            for e in index.get("rough", ())
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


@cache
def judged_again() -> frozenset[str]:
    """Return the files that are judged from their written adapters as well."""
    return frozenset(AGAIN.read_text(encoding="utf-8").split())


def sample() -> list[str]:
    """Return the files of which each run of the tests judges a quarter, others every day.

    Of every kind (component, right or wrong) they are a twentieth, beginning with the first; besides, those of AGAIN,
    and those of which more than a verdict is asked.
    """
    kinds: dict[tuple[str, bool], list[str]] = {}
    for s in submissions():
        kinds.setdefault((s.component, s.right), []).append(s.file)
    chosen = judged_again().union(*(files[::20] for files in kinds.values()))
    return [s.file for s in submissions() if s.file in chosen or s.deviations or s.file in still_open()]


def covering(judged: dict[str, Judged]) -> list[str]:
    """Return files that together have every feature, which AGAIN must list: each time that with the most new ones."""
    missing = set().union(*(one.features for one in judged.values()))
    found = []
    while missing:
        file = max(judged, key=lambda file: len(judged[file].features & missing))
        missing -= judged[file].features
        found.append(file)
    return [file for file in judged if file in found]


def judge(path: str, again: bool = False) -> Judged:
    """Return what comes of a file, a notebook or an adapter; ``again``: judge its written adapter, too."""
    import torch

    from attnconf.conformance import inference
    from attnconf.conformance.inference import writing
    from attnconf.conformance.run import implementations
    from attnconf.conformance.run import judge as judge_run
    from attnconf.conformance.run import record as results
    from attnconf.reports import record as records
    from attnconf.reports.form import problem

    torch.set_num_threads(1)
    once = _once(inference.bindings)  # it takes seconds, and is used twice
    start = time.process_time()
    with (
        warnings.catch_warnings(),
        mock.patch.object(inference, "bindings", once),
        mock.patch.object(writing, "bindings", once),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        kept_values.compared() as differing,
    ):
        warnings.resetwarnings()
        run = judge_run(implementations.load(path))
        record = results.record(run)
        took = time.process_time() - start
        assert not (wrong := problem(record, json.loads(records.PAGE.read_text(encoding="utf-8")))), wrong
        assert not differing, f"kept from another file: {differing}"
        written, features = compared(path, run, again) if run.plan.planned else ("", frozenset())
    verdicts = tuple((v["component"] or "", v["verdict"]) for v in record["verdicts"])
    roots = [r for r in record["results"] if r["outcome"] == "fail" and not r["follows_from"]]
    named, deviations = (
        tuple(sorted({m for r in roots if r["strength"] == strength for d in r["diagnosis"] for m in d["mutants"]}))
        for strength in ("MUST", "SHOULD")
    )
    reason = "; ".join(v["reason"] for v in record["verdicts"] if v["reason"])
    return Judged(verdicts, reason, named, took, written, features, deviations, tuple(guessed(record)))


def guessed(record: dict[str, Any]) -> list[str]:
    """Return what makes a component nonconformant though its binding is not established, and holds not under any.

    Whether a check is a law is taken from the check, not from what the record says of it.
    """
    from attnconf.conformance.chapters.contents import check_of

    known = {i["name"]: any(line in CERTAIN for line in i["bound"]) for i in record["implementations"]}
    accused = {(v["implementation"], v["component"]) for v in record["verdicts"] if v["verdict"] == "nonconformant"}
    return [
        r["requirement"]
        for r in record["results"]
        if r["outcome"] == "fail" and r["counts"] and not known[r["implementation"]]
        if (r["implementation"], r["component"]) in accused
        if not check_of(r["requirement"], r["component"]).any_weights
    ]


def _once(function: Any) -> Any:
    """Return a function that remembers what it found last, and where."""
    last: dict[Path, Any] = {}

    def remembering(source: Any, *args: Any) -> Any:
        if source.path not in last:
            last.clear()
            last[source.path] = function(source, *args)
        return last[source.path]

    return remembering


def standing(submission: Submission, judged: Judged) -> str:
    """Return what is to be said of a file in the table."""
    if submission.right and not judged.conformant:
        return "WRONG VERDICT"
    if submission.rough:
        return "rough, named" if set(judged.deviations) & set(submission.mistakes) else "NOT NAMED"
    if submission.right:
        return "conformant"
    if not judged.nonconformant:
        return "unrecognised" if judged.unrecognised else "NOT CAUGHT"
    if not judged.named:
        return "caught, not named" if submission.mistakes else "caught"
    return "named" if set(judged.named) & set(submission.mistakes) else "NAMED WRONGLY"


def named_of(submission: Submission, judged: Judged) -> tuple[str, ...]:
    """Return the mistakes that are named: at roots that are MUSTs, of a rough file at SHOULDs."""
    return judged.deviations if submission.rough else judged.named


Outcomes = dict[tuple[str, str], tuple[str, str]]  # by file and component: what is to be said, and the mistakes named


def outcomes(judged: dict[str, Judged]) -> Outcomes:
    """Return the outcomes of the files that were judged."""
    return {
        (s.file, s.component): (standing(s, judged[s.file]), ", ".join(named_of(s, judged[s.file])))
        for s in submissions()
        if s.file in judged
    }


def committed() -> Outcomes:
    """Return the outcomes that stand in reports/submissions.md."""
    lines = [line for line in REPORT.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    cells = [line.strip("|").split(" | ") for line in lines[1:]]
    return {(file.strip(), component): (word, named.strip()) for file, component, *_, word, named in cells}


def table(came_out: Outcomes) -> str:
    """Return reports/submissions.md."""
    rows = [(s, *came_out[s.file, s.component]) for s in submissions()]
    right = [word for s, word, _ in rows if s.right and not s.rough]
    rough = [word for s, word, _ in rows if s.rough]
    wrong = [word for s, word, _ in rows if not s.right]
    count = Counter(wrong)
    named = f"{count['named']} ({count['named'] / len(wrong):.0%})"
    lines = [
        "# Submissions without an adapter",
        "",
        "The files of `tests/submissions`, which know nothing of this project, judged by `attnconf run --impl=FILE`.",
        "Made by `python tests/collection/judged_submissions.py`; "
        "tests/collection/test_submissions.py holds it to what comes out.",
        "",
        f"* {len(right)} right files: {right.count('conformant')} conformant.",
        f"* {len(rough)} rough files, right but where a SHOULD asks: {rough.count('rough, named')} named.",
        f"* {len(wrong)} wrong files: {len(wrong) - count['NOT CAUGHT'] - count['unrecognised']} nonconformant, "
        f"{count['unrecognised']} unrecognised; "
        f"the mistake of {named} is named, "
        f"{count['caught, not named'] + count['caught']} are caught without a name, "
        f"{count['NAMED WRONGLY']} are named wrongly.",
        "",
        "| File | Component | What is wrong | Outcome | Named |",
        "|---|---|---|---|---|",
    ]
    lines += [f"| {s.file} | {s.component} | {s.story} | {word} | {named} |" for s, word, named in rows]
    return "\n".join(lines) + "\n"


def judge_all(files: list[str]) -> Iterator[tuple[str, Judged]]:
    """Yield each file with what came of it, by as many processes as there are processors, which are renewed."""
    with multiprocessing.get_context("spawn").Pool(maxtasksperchild=FILES_OF_A_PROCESS) as pool:
        yield from zip(files, pool.imap(judge, (str(FOLDER / file) for file in files)), strict=True)


def main() -> None:
    pattern = sys.argv[1] if len(sys.argv) > 1 else ""
    chosen = {s.file: s for s in submissions() if pattern in s.file}
    judged: dict[str, Judged] = {}
    for file, j in judge_all(list(chosen)):
        s = chosen[file]
        judged[file] = j
        wanted = "" if not s.mistakes else f"want {', '.join(s.mistakes)}"
        named = ", ".join(j.named)
        print(f"{standing(s, j):18} {file} {j.seconds:.1f} s {named} {wanted} {j.reason[:200]}", flush=True)
    if not pattern:
        AGAIN.write_text("\n".join([*covering(judged), ""]), encoding="utf-8")
        REPORT.write_text(table(outcomes(judged)), encoding="utf-8")


if __name__ == "__main__":
    main()
