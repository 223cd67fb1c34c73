"""What is at the root of points that were not earned, told as far as the hints of the rubric allow."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from attnconf.conformance.grading.rubric import HINTS
from attnconf.reports import examples, failures
from attnconf.reports.grades.inert import cut, line

if TYPE_CHECKING:
    from attnconf.conformance.grading.scoring import Grade, Part, Scored

Record = Mapping[str, Any]
Result = dict[str, Any]
Key = tuple[str, str]  # component, requirement
Row = tuple[str, str]

MEASURED = ("value", "shape", "dtype", "nonfinite", "property", "raised")  # each such failure has a story of its own
# Rows of a failure that are made here instead: they name other requirements, or the seed.
OTHERWISE = ("rerun", "known", "also", "breaks", "besides", "spec")
MISTAKEN = ("likely", "and", "wrong", "where", "fix", "try")  # rows that would tell a root which is not shown
WIDTH = 100  # characters of a line of an example
MOST_NAMES = 6
SAID = ("worst at", "found", "smallest")  # rows that may hold words of the submission
MOST_SAID = 300  # characters of them, where something is hidden: it could say there what it was asked


@dataclass(frozen=True)
class Cause:
    """One cause of failures; or several failures with one reason."""

    component: str
    requirements: tuple[str, ...]  # at the root
    following: tuple[str, ...]  # consequences
    items: tuple[str, ...]  # of the rubric, which it costs points
    rows: tuple[Row, ...]  # name and text, as in a block of failures
    spec: str
    results: tuple[Result, ...]  # that may be told in full

    @property
    def leaking(self) -> Result | None:
        """The result that has a map of who depends on whom, if there is one."""
        return next((r for r in self.results if r.get("leaks")), None)

    @property
    def title(self) -> str:
        """The first line of the block."""
        return f"{self.requirements[0]} on {self.component}"

    def lines(self) -> list[str]:
        """Return the block as text."""
        return [self.title, *(part for name, text in self.rows for part in _laid_out(name, text))]


@lru_cache(maxsize=4096)
def _laid_out(name: str, text: str) -> list[str]:
    """Return the lines of a row, which is the same in many submissions of a class."""
    return failures.laid_out(name, text, failures.WIDTH)


@dataclass
class _Group:
    keys: list[Key] = field(default_factory=list)
    following: list[str] = field(default_factory=list)
    items: list[str] = field(default_factory=list)
    hint: str = "diagnosis"
    unshown: bool = False  # whether it follows from what is not shown


@dataclass(frozen=True)
class _Told:
    """What is known of a submission, and how much of it may be told."""

    hints: Mapping[Key, str]  # of what the shown items ask for, the smallest
    unshown: frozenset[Key]  # what other items alone ask for
    parts: Mapping[Key, "Part"]
    results: Mapping[Key, Result]  # failures in the record

    def root(self, part: "Part") -> Key | None:
        """Return the failure that is told in place of this one: itself, or its root; None where that is not shown."""
        roots = [(part.component, name) for name in part.follows_from]
        shown = [key for key in roots if is_failing(self.parts.get(key)) and self.hints.get(key, "none") != "none"]
        unasked = [key for key in roots if key not in self.parts and key in self.results]
        if not roots:
            return (part.component, part.requirement)
        return next(iter([*shown, *unasked]), None)

    def same(self, key: Key) -> tuple[str, ...]:
        """Return what several failures with one cause have in common."""
        part = self.parts.get(key)
        if part is None or part.status in MEASURED:
            return (key[0], part.mistake, "") if part and part.mistake else key
        return (part.component, part.status, part.message, "")


def is_failing(part: "Part | None") -> bool:
    """Return whether a requirement did not earn all."""
    return part is not None and not part.earned >= 1


def causes(
    items: Sequence["Scored"], grade: "Grade", record: Record, of: Sequence["Scored"] | None = None
) -> list[Cause]:
    """Return the causes of what these items of a grade did not earn; of a consequence, its root.

    What other items alone ask for is not shown, nor is what has the hint "none". ``of``: the causes of these alone.
    """
    if grade.status != "judged":
        return []
    told = _told(items, grade, record)
    groups: dict[tuple[str, ...], _Group] = {}
    for item in items if of is None else of:
        for part in item.parts:
            if is_failing(part) and told.hints[part.component, part.requirement] != "none":
                _sort(part, item.name, told, groups)
    return [_cause(group, told, grade, record) for group in groups.values()]


def _told(items: Sequence["Scored"], grade: "Grade", record: Record) -> _Told:
    hints: dict[Key, str] = {}
    for item in items:
        for part in item.parts:
            key = part.component, part.requirement
            hints[key] = min(hints.get(key, "diagnosis"), item.hint, key=HINTS.index)
    parts = {(part.component, part.requirement): part for item in grade.items for part in item.parts}
    found = (record.get("results") or {}).get("results", [])
    results: dict[Key, Result] = {}
    for r in found:
        if r["outcome"] == "fail" and any(case["outcome"] == "fail" for case in r["cases"]):
            kept = results.setdefault((r["component"], r["requirement"]), r)
            if r.get("leaks") and not kept.get("leaks"):
                results[r["component"], r["requirement"]] = r
    return _Told(hints, frozenset(parts.keys() - hints.keys()), parts, results)


def _sort(part: "Part", item: str, told: _Told, groups: dict[tuple[str, ...], _Group]) -> None:
    """Put a failure with its cause."""
    own = (part.component, part.requirement)
    root = told.root(part)
    key = root or own
    group = groups.setdefault(told.same(key) if root else (*own, "its root is not shown"), _Group())
    group.unshown |= root is None
    group.hint = min(group.hint, told.hints.get(key, told.hints[own]), key=HINTS.index)
    _add(group.keys, key)
    _add(group.items, item)
    if key != own:
        _add(group.following, part.requirement)


def _add(known: list[Any], new: Any) -> None:
    if new not in known:
        known.append(new)


def _cause(group: _Group, told: _Told, grade: "Grade", record: Record) -> Cause:
    key = group.keys[0]
    part, results = told.parts.get(key), [told.results[k] for k in group.keys if k in told.results]
    result = told.results.get(key)
    sentence, spec = (
        (part.sentence, part.spec) if part else (result["sentence"], result["spec"]) if result else ("", "")
    )
    in_full = group.hint == "diagnosis"
    others = [name for _, name in group.keys[1:]]
    left_out = MISTAKEN if group.unshown else ()
    rows = [
        *(_in_full(part, result, results, record) if in_full else [("rule", sentence)]),
        ("also", f"{names(others)} (the same reason)" if others else ""),
        ("breaks", f"{names(group.following)} (consequences)" if group.following else ""),
        ("spec", spec),
        ("rerun", _rerun(grade, record, key[1]) if in_full and part and _is_shown(part) else ""),
    ]
    return Cause(
        component=key[0], requirements=tuple(name for _, name in group.keys), following=tuple(group.following),
        items=tuple(group.items), rows=tuple(_bounded(row, told) for row in rows if row[1] and row[0] not in left_out),
        spec=spec,
        results=tuple(results) if in_full else (),
    )  # fmt: skip


def _bounded(row: Row, told: _Told) -> Row:
    return (row[0], cut(row[1], MOST_SAID)) if told.unshown and row[0] in SAID else row


def _in_full(part: "Part | None", result: Result | None, same: Sequence[Result], record: Record) -> list[Row]:
    if result is not None:
        alone = {**record["results"], "results": [result]}
        rows = [row for row in failures.rows(alone, [result], WIDTH) if row[0] not in OTHERWISE]
        others = [examples.leaks(r) for r in same if r.get("leaks") and not result.get("leaks")]
        return [*rows, *(("leaks", "\n".join(lines)) for lines in others[:1])]
    if part is None:
        return []
    mistake = [("likely", part.story), ("where", part.where), ("fix", part.hint)]
    return [*mistake, ("rule", part.sentence), ("found", part.message)]


def _is_shown(part: "Part") -> bool:
    """Return whether a student can judge a requirement that failed: it is no course's own."""
    return part.status in MEASURED and part.spec.startswith("spec/")


def _rerun(grade: "Grade", record: Record, requirement: str) -> str:
    """Return the command that judges this requirement on the cases that everybody knows, not on those of the batch."""
    suite = (record.get("results") or {}).get("suite", {})
    profile = suite.get("profile", "core")
    options = [f"--impl={shlex.quote(PurePath(line(grade.file)).name)}"]
    options += [] if profile.startswith("core") else [f"--profile={profile}"]
    options += [f"--convention={name}={choice}" for name, choice in suite.get("prescribed", {}).items()]
    return f"attnconf run {' '.join(options)} -k {requirement}"


def names(known: Iterable[str], most: int = MOST_NAMES) -> str:
    """Return names in a row, the first of them where there are many."""
    listed = list(known)
    more = f" and {len(listed) - most} more" if len(listed) > most + 1 else ""
    return ", ".join(listed[:most] if more else listed) + more
