"""What stands behind the cells: a block for each failure, and a line for each other result."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape

from attnconf.reports import examples, failures, unrecognised
from attnconf.reports.comparison.visible import visible
from attnconf.reports.merging import Judged

Result = dict[str, Any]
COPIED = ("rerun", "example", "leaks")  # rows that keep their spaces
WIDTH = 100  # characters of a line of an example
_ADDRESS = re.compile(r"(https?://[^\s()<>\[\]\"']+)")
_FORBIDDEN = re.compile(r"(?<=[ .o!X])X(?=[ ]|$)")


@dataclass(frozen=True)
class Block:
    """One failure, or several with one cause."""

    anchor: str
    title: str
    counts: bool
    known: bool
    rows: list[tuple[str, str | Markup]]


@dataclass(frozen=True)
class Evidence:
    """All blocks of one implementation."""

    label: str
    blocks: list[Block]
    unrecognised: list[str]
    anchors: Mapping[tuple[str, str, str], str]  # (component, lens, requirement) -> the block's

    @property
    def told(self) -> str:
        """How many of the blocks are of which sort, in words."""
        known, counting = sum(b.known for b in self.blocks), sum(b.counts and not b.known for b in self.blocks)
        sorts = {
            "not recognised": len(self.unrecognised), "broken": counting,
            "recommendations": len(self.blocks) - counting - known, "known": known,
        }  # fmt: skip
        return ", ".join(f"{n} {sort}" for sort, n in sorts.items() if n)


def evidence(judged: Iterable[Judged]) -> list[Evidence]:
    """Return the evidence of all implementations in their order."""
    found, number = [], 0
    for i in judged:
        blocks, anchors = [], dict[tuple[str, str, str], str]()
        for same in failures.causes(i.record):
            number += 1
            blocks.append(_block(i, same, f"f{number}"))
            anchors |= {key(r): f"f{number}" for r in same}
        others = ["\n".join(lines) for lines in unrecognised.blocks(i.record, failures.WIDTH)]
        found.append(Evidence(i.label, blocks, others, anchors))
    return found


def key(r: Result) -> tuple[str, str, str]:
    """Return what a result is about, within one implementation."""
    return r["component"], r["lens"], r["requirement"]


def _block(i: Judged, same: list[Result], anchor: str) -> Block:
    r = same[0]
    rows = [(name, _shown(name, text)) for name, text in failures.rows(i.record, same, WIDTH)]
    return Block(anchor, failures.head(r), r["counts"], bool(r["deviation"]), rows)


def _shown(name: str, text: str) -> str | Markup:
    """Return the text of a row; what a map of dependences forbids is marked."""
    if name != "leaks":
        return text
    head, *lines = text.split("\n")
    cells = [line if line == examples.LEGEND else _FORBIDDEN.sub("<mark>X</mark>", line) for line in map(_safe, lines)]
    return Markup("\n".join([_safe(head), *cells]))


def _safe(text: str) -> str:
    return str(escape(visible(text)))


def linked(text: str) -> Markup:
    """Return a text whose addresses can be followed."""
    parts = _ADDRESS.split(visible(text))
    links = [Markup('<a href="{0}">{0}</a>').format(part) if n % 2 else escape(part) for n, part in enumerate(parts)]
    return Markup("").join(links)


def line(r: Result) -> str:
    """Return what a result that has no block says: how many cases, how near the bound, or in its own words why not."""
    if r["outcome"] != "pass":
        return r["message"] or ""
    cases = f"{len(r['cases'])} case{'s' * (len(r['cases']) != 1)}"
    share = budget(r)
    return f"{cases}, at most {share:.1g} of the bound" if share is not None else cases


def budget(r: Result) -> float | None:
    """Return the largest share of its bound that a case of this result uses; None where nothing was measured."""
    shares = [c["error"] / c["bound"] for c in r["cases"] if c["error"] is not None and c["bound"]]
    return max(shares, default=None)
