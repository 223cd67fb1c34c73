"""Sections of the specification by implementations, and the requirements that a section opens to."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from attnconf.reports import tables
from attnconf.reports.merging import Judged, merged

Result = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """A kind of cell: a letter in the data, a sign, a word and its meaning."""

    letter: str
    sign: str
    word: str
    meaning: str


KINDS = (  # the worst first; the first whose beginning or end a cell of tables.rows has
    Kind("e", "!", "error", "a fault of the suite"),
    Kind("k", "•", "known", "fails, listed beside the adapter with reason and link"),
    Kind("f", "✗", "fails", "a rule that counts for the verdict does not hold, at the root"),
    Kind("w", "△", "not met", "a recommendation is not followed"),
    Kind("d", "≠", "differs", "as the file was read, which nothing confirmed"),
    Kind("o", "↳", "follows", "a consequence of another failure"),
    Kind("u", "∅", "unsupported", "the implementation says that it does not have it"),
    Kind("r", "…", "not run", "planned, and not judged"),
    Kind("p", "✓", "passes", "holds on all cases"),
    Kind("n", "–", "does not apply", "needs what the component lacks"),
)
_BEGINS = {"ERROR": "e", "FAIL": "f", "not met": "w", "differs": "d", "follows": "o", "unsupported": "u",
           "not run": "r", "pass": "p", "-": "n"}  # fmt: skip
_OUTCOMES = {"pass": "p", "unsupported": "u", "not-applicable": "n", "not-run": "r", "error": "e"}
_WORST_FIRST = "efdwokurpn"
OF_ALL = ("calls", "throughput")  # chapters about every component; they stand last
OF_LETTER = {kind.letter: kind for kind in KINDS}


def letter(cell: str) -> str:
    """Return the letter of a cell of ``tables.rows``; a blank for what was not judged."""
    if cell.endswith(", known"):
        return "k"
    return next((kind for beginning, kind in _BEGINS.items() if cell.startswith(beginning)), " ")


def letter_of(r: Result) -> str:
    """Return the letter of a single result."""
    if r["outcome"] != "fail":
        return _OUTCOMES[r["outcome"]]
    if r["deviation"]:
        return "k"
    if r["follows_from"]:
        return "o"
    return "d" if not r["settled"] else "f" if r["counts"] else "w"


@dataclass(frozen=True)
class Requirement:
    """One row: a requirement, and a letter for each implementation."""

    id: str
    strength: str
    quality: str | None
    sentence: str
    spec: str
    letters: str


@dataclass(frozen=True)
class Section:
    """The requirements of one section of a page."""

    chapter: str
    title: str
    requirements: list[Requirement]

    def cells(self) -> list[tuple[str, str]]:
        """Return (letter, text) for each implementation: the worst kind, and how many there are of it."""
        return [_cell(column) for column in zip(*(r.letters for r in self.requirements), strict=True)]


def _cell(column: Sequence[str]) -> tuple[str, str]:
    numbers = Counter(column)
    worst = next((kind for kind in _WORST_FIRST if numbers[kind]), " ")
    if worst in "upn " and numbers["p"]:
        return "p", OF_LETTER["p"].sign + (f" {numbers['u']}∅" if numbers["u"] else "")
    if worst == " ":
        return " ", ""
    return worst, OF_LETTER[worst].sign + (f" {numbers[worst]}" if worst not in "pn" else "")


def columns(judged: Iterable[Judged]) -> list[Judged]:
    """Return the implementations that have a column: those that could be loaded."""
    return [i for i in judged if i.entry["components"]]


def sections(shown: Sequence[Judged]) -> list[Section]:
    """Return all sections with a requirement that was judged, in the order of the records."""
    record = merged(shown)
    first: dict[str, Result] = {}
    for r in record["results"]:
        first.setdefault(r["requirement"], r)
    by_section: dict[tuple[str, str], list[Requirement]] = {}
    for name, strength, *cells in tables.rows(record):
        r = first[name]
        row = Requirement(name, strength, r["quality"], r["sentence"], r["spec"], "".join(map(letter, cells)))
        by_section.setdefault((tables.chapter(r), r.get("topic") or "all"), []).append(row)
    in_order = sorted(dict.fromkeys(chapter for chapter, _ in by_section), key=lambda chapter: chapter in OF_ALL)
    found = sorted(by_section.items(), key=lambda item: in_order.index(item[0][0]))
    return [Section(chapter, title, requirements) for (chapter, title), requirements in found]


def by_chapter(shown: Iterable[Section]) -> dict[str, list[Section]]:
    """Return the sections by the page that they stand on."""
    chapters: dict[str, list[Section]] = {}
    for section in shown:
        chapters.setdefault(section.chapter, []).append(section)
    return chapters


def kinds(shown: Iterable[Section]) -> list[Kind]:
    """Return the kinds of cells that there are, for a legend."""
    letters = {letter for section in shown for r in section.requirements for letter in r.letters}
    return [kind for kind in KINDS if kind.letter in letters]
