"""The collection of submissions, judged as somebody's own files are: no adapter, default profile.

``python tests/collection/judged_submissions.py [PATTERN]`` prints what came out, and writes the report, and the list of
files that are judged again from their written adapters, if all were run.

Each file is judged once. The adapter that `bind` writes of it must be the text that was run. It is judged as well of
the files in AGAIN, which are the first, in the order of the indices, to have a feature that no earlier one of the same
binder had: a function of `attnconf.adapters.generated` that the text calls, NumPy's arrays, several classes in
one file, a notebook, a binding that nothing confirmed.
"""

import ast
import contextlib
import dis
import io
import json
import re
import sys
import tempfile
import time
import tomllib
import warnings
from collections import Counter
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any
from unittest import mock

FOLDER = Path(__file__).parents[1] / "submissions"
REPORT = Path(__file__).parents[2] / "reports" / "submissions.md"
OPEN = "open.toml"  # files of which a goal is not reached yet, and why
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


@cache
def judged_again() -> frozenset[str]:
    """Return the files that are judged from their written adapters as well."""
    return frozenset(AGAIN.read_text(encoding="utf-8").split())


def sample() -> list[str]:
    """Return the files that each run of the tests judges.

    Of every kind (component, right or wrong) they are a third, beginning with the first; besides, those of AGAIN, and
    those of which more than a verdict is asked.
    """
    kinds: dict[tuple[str, bool], list[str]] = {}
    for s in submissions():
        kinds.setdefault((s.component, s.right), []).append(s.file)
    chosen = judged_again().union(*(files[::3] for files in kinds.values()))
    return [s.file for s in submissions() if s.file in chosen or s.deviations or s.file in still_open()]


def with_new_features(judged: dict[str, Judged]) -> list[str]:
    """Return the files that are the first to have a feature, which AGAIN must list."""
    seen: set[str] = set()
    found = []
    for file, one in judged.items():
        if not one.features <= seen:
            found.append(file)
        seen |= one.features
    return found


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
    ):
        warnings.resetwarnings()
        run = judge_run(implementations.load(path))
        record = results.record(run)
        took = time.process_time() - start
        assert not (wrong := problem(record, json.loads(records.PAGE.read_text(encoding="utf-8")))), wrong
        written, features = _written(path, run, again) if run.plan.planned else ("", frozenset())
    verdicts = tuple((v["component"] or "", v["verdict"]) for v in record["verdicts"])
    roots = [r for r in record["results"] if r["outcome"] == "fail" and not r["follows_from"]]
    named, deviations = (
        tuple(sorted({m for r in roots if r["strength"] == strength for d in r["diagnosis"] for m in d["mutants"]}))
        for strength in ("MUST", "SHOULD")
    )
    reason = "; ".join(v["reason"] for v in record["verdicts"] if v["reason"])
    return Judged(verdicts, reason, named, took, written, features, deviations)


def _outcomes(run: Any) -> list[tuple[str, ...]]:
    return sorted(
        (p.entry.component, p.entry.lens, p.entry.requirement, run.outcomes[p.id].outcome) for p in run.plan.planned
    )


def _written(path: str, run: Any, again: bool) -> tuple[str, frozenset[str]]:
    """Return how the adapter that ``attnconf bind`` writes differs from what was run, and the features of its text."""
    from attnconf.conformance import inference
    from attnconf.conformance.inference.writing import adapter_text
    from attnconf.conformance.loading.resolve import source_of
    from attnconf.conformance.run import implementations
    from attnconf.conformance.run.judging import judge_all
    from attnconf.conformance.run.plan import Settings, make_plan

    name, source = source_of(path)
    bound, _ = inference.bindings(source, name.chosen, name.component)
    text = adapter_text(bound, source)
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "written_adapter.py"
        written.write_text(text, encoding="utf-8")
        loaded = implementations.load(str(written))
        ran = [i for i in run.plan.implementations if hasattr(i, "components")]
        wrong = _added(text, [_body(b) for b in bound])
        wrong += "".join(map(_unlike, ran, loaded)) if len(ran) == len(loaded) else f"{len(loaded)} implementations"
        if again and not wrong and _outcomes(run) != _outcomes(judge_all(make_plan(loaded, Settings()))):
            wrong = "other outcomes"
    return wrong, _features(path, text, ran)


def _body(bound: Any) -> str:
    """Return the text of a binding that is run, which names the user's definitions in arrays by another name."""
    text: str = bound.draft.body
    return re.sub(r"\btheirs\.", "arrays.", text) if bound.place.in_arrays else text


HEAD = {"theirs", "arrays", "binding", "declares", "profile", "established", "variants"}


def _added(text: str, bodies: list[str]) -> str:
    """Return what a written adapter has besides the texts that were run, imports and what it declares; or nothing."""
    for body in bodies:
        if body not in text:
            return "its text is not the one that was run"
        text = text.replace(body, "", 1)
    for node in ast.parse(text).body[1:]:  # after the docstring
        targets = {ast.unparse(target).partition("[")[0] for target in getattr(node, "targets", [])}
        if not isinstance(node, ast.Import | ast.ImportFrom) and not (targets and targets <= HEAD):
            return f"it adds {ast.unparse(node)}"
    return ""


def _unlike(ran: Any, loaded: Any) -> str:
    """Return what is not the same in the implementation that was run and the one that was loaded, or nothing."""
    for what, of in {
        "declares": attrgetter("declares"),
        "profile": attrgetter("profile"),
        "established": _sure,
    }.items():
        if of(ran) != of(loaded):
            return f"{what}: {of(ran)} was run, {of(loaded)} is written"
    if ran.components.keys() != loaded.components.keys():
        return f"components: {list(ran.components)} were run, {list(loaded.components)} are written"
    return "".join(_lacking(function, loaded.components[name]) for name, function in ran.components.items())


def _sure(implementation: Any) -> bool:
    return implementation.binding is None or implementation.binding.established


def _lacking(ran: FunctionType, written: FunctionType) -> str:
    """Return what a function that was run finds among its globals, and the written one does not; or nothing."""
    for name in _globals(written.__code__) & ran.__globals__.keys() - {"theirs"}:
        one, other = ran.__globals__[name], written.__globals__.get(name)
        own = isinstance(one, FunctionType) and one.__globals__ is ran.__globals__
        if not own and one is not other:
            return f"{name} is not imported"
    return ""


def _globals(code: CodeType) -> set[str]:
    """Return the global names that a code reads, and those that the functions in it read."""
    found = {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return found.union(*(_globals(c) for c in code.co_consts if isinstance(c, CodeType)))


def _features(path: str, text: str, ran: list[Any]) -> frozenset[str]:
    from attnconf.adapters import generated
    from attnconf.conformance.chapters.contents import appearances

    looks = appearances()
    binders = sorted({looks[component].binder for i in ran for component in i.components if component in looks})
    found = [name for name in generated.__all__ if re.search(rf"\b{name}\(", text.replace("= definitions(", ""))]
    found += ["arrays"] if "in_arrays(theirs)" in text else []
    found += ["several"] if len(ran) > 1 else []
    found += ["notebook"] if path.endswith(".ipynb") else []
    found += ["unconfirmed"] if not all(map(_sure, ran)) else []
    return frozenset(f"{binder}: {name}" for binder in binders for name in ("plain", *found))


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
    if submission.right:
        return "conformant" if judged.conformant else "WRONG VERDICT"
    if not judged.nonconformant:
        return "NOT CAUGHT"
    if not judged.named:
        return "caught, not named" if submission.mistakes else "caught"
    return "named" if set(judged.named) & set(submission.mistakes) else "NAMED WRONGLY"


Outcomes = dict[tuple[str, str], tuple[str, str]]  # by file and component: what is to be said, and the mistakes named


def outcomes(judged: dict[str, Judged]) -> Outcomes:
    """Return the outcomes of the files that were judged."""
    return {
        (s.file, s.component): (standing(s, judged[s.file]), ", ".join(judged[s.file].named))
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
    right = [word for s, word, _ in rows if s.right]
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
        f"* {len(wrong)} wrong files: {len(wrong) - count['NOT CAUGHT']} nonconformant; "
        f"the mistake of {named} is named, "
        f"{count['caught, not named'] + count['caught']} are caught without a name, "
        f"{count['NAMED WRONGLY']} are named wrongly.",
        "",
        "| File | Component | What is wrong | Outcome | Named |",
        "|---|---|---|---|---|",
    ]
    lines += [f"| {s.file} | {s.component} | {s.story} | {word} | {named} |" for s, word, named in rows]
    return "\n".join(lines) + "\n"


def main() -> None:
    pattern = sys.argv[1] if len(sys.argv) > 1 else ""
    chosen = [s for s in submissions() if pattern in s.file]
    judged: dict[str, Judged] = {}
    for s in chosen:
        j = judged[s.file] = judged.get(s.file) or judge(str(FOLDER / s.file))
        wanted = "" if s.right else f"want {', '.join(s.mistakes)}"
        print(
            f"{standing(s, j):18} {s.file} {j.seconds:.1f} s {', '.join(j.named)} {wanted} {j.reason[:200]}", flush=True
        )
    if not pattern:
        AGAIN.write_text("\n".join([*with_new_features(judged), ""]), encoding="utf-8")
        REPORT.write_text(table(outcomes(judged)), encoding="utf-8")


if __name__ == "__main__":
    main()
