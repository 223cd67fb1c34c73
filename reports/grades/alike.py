"""Submissions with the same wrong outputs: a hint that one was copied from the other, and no more than a hint.

Two are alike if all their files are the same, byte for byte; or if they fail the same requirements with the same error
figures, to the last digit, and have at least LEAST different ones on cases that no known mistake explains. All
submissions of a batch are judged on the same cases, so two with the same known mistake should have the same figures.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attnconf.conformance.grading.scoring import Grade

Record = Mapping[str, Any]
LEAST = 3  # different figures
HOW = (
    "A hint, and no proof, that a file was copied: the files are the same, byte for byte; or the same requirements "
    f"fail with the same error figures, to the last digit, at least {LEAST} different ones on cases that no known "
    "mistake explains. "
    "A skeleton that was handed out explains both as well."
)


@dataclass(frozen=True)
class Alike:
    """Submissions that are alike."""

    numbers: tuple[int, ...]  # of the grades
    why: str


def alike(grades: Sequence["Grade"], records: Sequence[Record]) -> list[Alike]:
    """Return the groups, the largest first."""
    files: dict[str, list[int]] = {}
    figures: dict[tuple[Any, ...], list[int]] = {}
    for number, (grade, record) in enumerate(zip(grades, records, strict=True)):
        if grade.status not in ("empty", "refused") and record.get("digest"):
            files.setdefault(record["digest"], []).append(number)
        if grade.status == "judged" and grade.score > 0:
            failing, found = _failing(record), _figures(record)
            if len({error for *_, error in found}) >= LEAST:
                figures.setdefault((failing, found), []).append(number)
    same = [Alike(tuple(numbers), "the same files") for numbers in files.values() if len(numbers) > 1]
    known = {group.numbers for group in same}
    wrong = [
        Alike(tuple(numbers), f"the same figures on {len(found)} failing cases")
        for (_, found), numbers in figures.items()
        if len(numbers) > 1 and tuple(numbers) not in known
    ]
    return sorted([*same, *wrong], key=lambda group: -len(group.numbers))


def _failing(record: Record) -> tuple[Any, ...]:
    found = (record.get("results") or {}).get("results", [])
    return tuple(sorted((r["component"], r["lens"], r["requirement"]) for r in found if r["outcome"] == "fail"))


def _figures(record: Record) -> tuple[Any, ...]:
    """Return the error figures of all failing cases that no known mistake explains."""
    found = (record.get("results") or {}).get("results", [])
    explained = {(r["component"], r["requirement"]) for r in found if r["diagnosis"]}
    return tuple(sorted(
        (r["component"], r["lens"], r["requirement"], case["name"], case["error"])
        for r in found
        if r["outcome"] == "fail" and (r["component"], r["requirement"]) not in explained
        and not any((r["component"], root) in explained for root in r["follows_from"])
        for case in r["cases"]
        if case["outcome"] == "fail" and case["error"] is not None
    ))  # fmt: skip
