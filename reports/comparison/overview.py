"""Who conforms: one entry for each implementation, with its verdicts and the shares of recommendations met."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from attnconf.reports.merging import Judged

WORST_FIRST = ("not-gradable", "nonconformant", "unrecognised", "incomplete", "conformant")
QUALITIES = ("robust", "precise", "efficient")


@dataclass(frozen=True)
class Entry:
    """What the first screen says of one implementation."""

    label: str
    version: str | None
    verdict: str  # the worst of its components'
    components: list[dict[str, Any]]  # its verdicts, the worst first
    conforming: int
    qualities: dict[str, tuple[int, int]]  # recommendations met, and judged, over all components
    broken: int  # what lowers a verdict: requirements, at the root, and arguments that do not do what they promise
    known: int  # known deviations, among them some of what lowers a verdict
    cut_short: bool


def entries(judged: Iterable[Judged]) -> list[Entry]:
    """Return the entries in the order of the implementations."""
    return [_entry(i) for i in judged]


def _entry(i: Judged) -> Entry:
    roots = [r for r in i.results if r["outcome"] == "fail" and not r["follows_from"]]
    components = sorted(map(i.said, i.verdicts), key=lambda v: WORST_FIRST.index(v["verdict"]))
    return Entry(
        i.label,
        i.entry["version"],
        components[0]["verdict"] if components else "incomplete",
        components,
        sum(v["verdict"] == "conformant" for v in components),
        _qualities(components),
        sum(r["counts"] for r in roots) + sum(len(v["broken"]) for v in components),
        sum(bool(r["deviation"]) for r in roots),
        not i.record["complete"],
    )


def _qualities(verdicts: Iterable[dict[str, Any]]) -> dict[str, tuple[int, int]]:
    met, looked_at = Counter[str](), Counter[str]()
    for v in verdicts:
        for quality, n in v["qualities"].items():
            met[quality] += n["met"]
            looked_at[quality] += n["judged"]
    return {q: (met[q], looked_at[q]) for q in QUALITIES if looked_at[q]}


def qualities(shown: Iterable[Entry]) -> list[str]:
    """Return the qualities of which any recommendation was judged."""
    found = {quality for entry in shown for quality in entry.qualities}
    return [quality for quality in QUALITIES if quality in found]


def others(entry: Entry) -> str:
    """Return the components that do not conform, by their verdicts, in words."""
    words: dict[str, list[str]] = {}
    for v in entry.components:
        if v["verdict"] != "conformant":
            words.setdefault(v["verdict"], []).append(v["component"])
    return "; ".join(f"{', '.join(names)} {verdict}" for verdict, names in words.items())


def totals(shown: Iterable[Entry]) -> dict[str, int]:
    """Return the number of implementations by verdict, the best first."""
    numbers = Counter(entry.verdict for entry in shown)
    return {verdict: numbers[verdict] for verdict in reversed(WORST_FIRST) if numbers[verdict]}
