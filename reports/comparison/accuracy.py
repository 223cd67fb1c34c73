"""How much of the error budget is used: the largest share of a bound, by dtype and by length."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from attnconf.reports.merging import Judged

UNSAID = "bfloat16 or float16"  # of files that do not say which
Result = dict[str, Any]
Case = dict[str, Any]
DTYPES = ("float64", "float32", "bfloat16", "float16", UNSAID)
LENGTHS = (8, 64, 512, 2048)  # upper ends; the last column has what is longer
_SIZES = re.compile(r"\b(?:q|k|x|query|key|ids|source|target|memory|query, key, value )\((\d+(?:, [\d·]+)+)\)")
_COUNTED = re.compile(r"(\d+) (?:tokens|queries|keys)\b")


@dataclass(frozen=True)
class Share:
    """The largest share of a bound that an implementation uses, and of which requirement."""

    share: float  # infinite where what came out is no number, or nothing did
    requirement: str

    @property
    def heat(self) -> str:
        """A word for it."""
        share = self.share
        return "beyond" if share > 1 else "near" if share > 0.5 else "half" if share > 0.1 else "far"

    @property
    def said(self) -> str:
        """The share in words: a cross where there is none."""
        return f"{self.share:.2g} {self.requirement}" if self.share < math.inf else f"✗ {self.requirement}"


Table = list[tuple[str, list[Share | None]]]


def by_dtype(judged: Iterable[Judged]) -> tuple[list[str], Table]:
    """Return the dtypes in which anything was computed, and a row for each implementation with a share for each."""
    rows = [(label, worst) for label, worst in _table(judged, len(DTYPES), _place)]
    used = [n for n in range(len(DTYPES)) if any(worst[n] for _, worst in rows)]
    return [DTYPES[n] for n in used], [(label, [worst[n] for n in used]) for label, worst in rows]


def by_length(judged: Iterable[Judged]) -> Table:
    """Return a row for each implementation, with a share for each range of LENGTHS."""
    return _table(judged, len(LENGTHS) + 1, _range)


def at_lengths(judged: Iterable[Judged]) -> list[tuple[str, dict[int, Share]]]:
    """Return for each implementation its largest share at each length, in full precision."""
    found = []
    for i in judged:
        worst: dict[int, Share] = {}
        for r, case, dtype, share in _shares(i.results):
            length = _length(case, dtype)
            if length and share < math.inf and (length not in worst or share > worst[length].share):
                worst[length] = Share(share, r["requirement"])
        found += [(i.label, worst)] if worst else []
    return found


def length_titles() -> list[str]:
    """Return the titles of the columns of ``by_length``."""
    starts = [1, *(end + 1 for end in LENGTHS)]
    return [f"{start}–{end}" for start, end in zip(starts, LENGTHS, strict=False)] + [f"{starts[-1]} and more"]


def _table(judged: Iterable[Judged], columns: int, column: Callable[[Case, str], int | None]) -> Table:
    rows = ((i.label, _worst(i.results, columns, column)) for i in judged)
    return [(label, worst) for label, worst in rows if any(worst)]


def _worst(results: Sequence[Result], columns: int, column: Callable[[Case, str], int | None]) -> list[Share | None]:
    worst: list[Share | None] = [None] * columns
    for r, case, dtype, share in _shares(results):
        at = column(case, dtype)
        if at is not None and ((best := worst[at]) is None or share > best.share):
            worst[at] = Share(share, r["requirement"])
    return worst


def _shares(results: Sequence[Result]) -> Iterator[tuple[Result, Case, str, float]]:
    """Yield the cases that were measured against a bound of error, each dtype apart, with the share that they use."""
    for r in results:
        if r["quality"] != "efficient":  # its bounds are of memory and operations
            for case in r["cases"]:
                for dtype, found in (case.get("by_dtype") or {_dtype(r, case): case}).items():
                    if found["error"] is not None and found["bound"]:
                        yield r, case, dtype, found["error"] / found["bound"]
                    elif "by_dtype" in case and found["outcome"] == "fail":
                        yield r, case, dtype, math.inf


def _dtype(r: Result, case: Case) -> str:
    """Return the dtype of a case that does not say it apart: that of the requirement's words, else its own."""
    if "float16" in r["sentence"]:
        return UNSAID if "bfloat16" in r["sentence"] else "float16"
    if re.search(r"^In float32|in float32\.$", r["sentence"]):
        return "float32"
    return str(case["described"].rpartition(" ")[2])


def failed_in(r: Result) -> list[str]:
    """Return the dtypes in which cases of a result fail."""
    failed: dict[str, None] = {}
    for case in r["cases"]:
        if case["outcome"] == "fail":
            told = case.get("by_dtype") or {_dtype(r, case): case}
            failed |= dict.fromkeys(dtype for dtype, found in told.items() if found["outcome"] == "fail")
    return list(failed)


def _place(case: Case, dtype: str) -> int | None:
    return DTYPES.index(dtype) if dtype in DTYPES else None


def _range(case: Case, dtype: str) -> int | None:
    """Return the column of the longest sequence of a case in full precision."""
    length = _length(case, dtype)
    return None if length is None else sum(length > end for end in LENGTHS)


def _length(case: Case, dtype: str) -> int | None:
    """Return the longest sequence of a case in full precision: the last axis but one of its inputs."""
    sizes = [found[1].split(", ") for found in _SIZES.finditer(case["described"])]
    lengths = [int(size[1] if len(size) == 2 else size[-2]) for size in sizes]
    lengths += map(int, _COUNTED.findall(case["described"]))
    return max(lengths) if lengths and "16" not in dtype else None
