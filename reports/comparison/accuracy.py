"""How much of the error budget is used: the largest share of a bound, by dtype and by length."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from attnconf.reports.merging import Judged

Result = dict[str, Any]
Case = dict[str, Any]
DTYPES = ("float64", "float32", "half precision")
LENGTHS = (8, 64, 512, 2048)  # upper ends; the last column has what is longer
_SIZES = re.compile(r"\b(?:q|k|x|query|key|ids|source|target|memory|query, key, value )\((\d+(?:, [\d·]+)+)\)")
_COUNTED = re.compile(r"(\d+) (?:tokens|queries|keys)\b")


@dataclass(frozen=True)
class Share:
    """The largest share of a bound that an implementation uses, and of which requirement."""

    share: float
    requirement: str
    heat: str  # a word for it


Table = list[tuple[str, list[Share | None]]]


def by_dtype(judged: Iterable[Judged]) -> Table:
    """Return a row for each implementation, with a share for each of DTYPES."""
    return _table(judged, len(DTYPES), _dtype)


def by_length(judged: Iterable[Judged]) -> Table:
    """Return a row for each implementation, with a share for each range of LENGTHS."""
    return _table(judged, len(LENGTHS) + 1, _range)


def at_lengths(judged: Iterable[Judged]) -> list[tuple[str, dict[int, Share]]]:
    """Return for each implementation its largest share at each length, in full precision."""
    found = []
    for i in judged:
        worst: dict[int, Share] = {}
        for r, case, share in _shares(i.results):
            length = _length(r, case)
            if length and (length not in worst or share > worst[length].share):
                worst[length] = Share(share, r["requirement"], _heat(share))
        found += [(i.label, worst)] if worst else []
    return found


def length_titles() -> list[str]:
    """Return the titles of the columns of ``by_length``."""
    starts = [1, *(end + 1 for end in LENGTHS)]
    return [f"{start}–{end}" for start, end in zip(starts, LENGTHS, strict=False)] + [f"{starts[-1]} and more"]


def _table(judged: Iterable[Judged], columns: int, column: Callable[[Result, Case], int | None]) -> Table:
    rows = ((i.label, _worst(i.results, columns, column)) for i in judged)
    return [(label, worst) for label, worst in rows if any(worst)]


def _worst(results: Sequence[Result], columns: int, column: Callable[[Result, Case], int | None]) -> list[Share | None]:
    worst: list[Share | None] = [None] * columns
    for r, case, share in _shares(results):
        at = column(r, case)
        if at is not None and ((best := worst[at]) is None or share > best.share):
            worst[at] = Share(share, r["requirement"], _heat(share))
    return worst


def _shares(results: Sequence[Result]) -> Iterator[tuple[Result, Case, float]]:
    """Yield the cases that were measured against a bound of error, with the share of it that they use."""
    for r in results:
        if r["quality"] != "efficient":  # its bounds are of memory and operations
            for case in r["cases"]:
                if case["error"] is not None and case["bound"]:
                    yield r, case, case["error"] / case["bound"]


def _heat(share: float) -> str:
    return "beyond" if share > 1 else "near" if share > 0.5 else "half" if share > 0.1 else "far"


def _dtype(r: Result, case: Case) -> int | None:
    """Return the column of the dtype: the one that the requirement speaks of, else that of the case."""
    if "float16" in r["sentence"]:
        return 2
    if re.search(r"^In float32|in float32\.$", r["sentence"]):
        return 1
    last = case["described"].rpartition(" ")[2]
    return DTYPES.index(last) if last in DTYPES else None


def _range(r: Result, case: Case) -> int | None:
    """Return the column of the longest sequence of a case in full precision."""
    length = _length(r, case)
    return None if length is None else sum(length > end for end in LENGTHS)


def _length(r: Result, case: Case) -> int | None:
    """Return the longest sequence of a case in full precision: the last axis but one of its inputs."""
    sizes = [found[1].split(", ") for found in _SIZES.finditer(case["described"])]
    lengths = [int(size[1] if len(size) == 2 else size[-2]) for size in sizes]
    lengths += map(int, _COUNTED.findall(case["described"]))
    return None if not lengths or _dtype(r, case) == 2 else max(lengths)
