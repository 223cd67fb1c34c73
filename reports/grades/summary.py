"""The page on a class, for instructors: the distribution, frequent mistakes, what to look at, and who is alike."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from attnconf.reports.comparison.rendering import template
from attnconf.reports.grades import figures
from attnconf.reports.grades.alike import HOW, alike
from attnconf.reports.grades.inert import cut, line, points
from attnconf.reports.grades.inert import markdown as text
from attnconf.reports.grades.student import TEMPLATES
from attnconf.reports.markdown import tabulated

if TYPE_CHECKING:
    from attnconf.conformance.grading.rubric import Rubric
    from attnconf.conformance.grading.scoring import Grade

Record = Mapping[str, Any]
Table = tuple[Sequence[str], Sequence[Sequence[str]]]  # head and rows
BAR = 40  # characters of the longest bar
MOST = 300  # characters of a cell


@dataclass(frozen=True)
class Class:
    """All that is known of a batch; ``grades``, ``records`` and ``keys`` (names of files) have one order."""

    batch: Mapping[str, Any]
    rubric: "Rubric"
    grades: Sequence["Grade"]
    records: Sequence[Record]
    keys: Sequence[str]


def html(of: Class) -> str:
    """Return the page for a browser."""
    rows = [(g, key, points(g.score)) for g, key in zip(of.grades, of.keys, strict=True)]
    return str(template("summary.html", TEMPLATES).render(
        title=of.rubric.title, closed=of.batch["closed"], suite=of.batch["suite"], isolation=of.batch["isolation"],
        figures=figures.in_words(of.rubric, of.grades), bins=figures.distribution(of.rubric, of.grades),
        items=_items(of), parts=_parts(of), grades=rows,
    ))  # fmt: skip


def markdown(of: Class) -> str:
    """Return the page as Markdown."""
    bins = figures.distribution(of.rubric, of.grades)
    wide = max((len(bin_.label) for bin_ in bins), default=0)
    bars = [f"{bin_.label:>{wide}}  {'█' * round(BAR * bin_.share)} {bin_.count}" for bin_ in bins]
    parts = [
        line_
        for _, title, table, words in _parts(of)
        if table[1]
        for line_ in ["", f"## {title}", *(["", words] if words else []), "", *_table(*table)]
    ]
    submissions = [
        [f"[{text(grade.submission)}](students/{key}.md)", text(grade.file), points(grade.score), text(grade.status)]
        for grade, key in zip(of.grades, of.keys, strict=True)
    ]
    lines = [
        f"# {text(of.rubric.title)}: the class", "",
        *(f"* {name}: {text(words)}" for name, words in figures.in_words(of.rubric, of.grades)),
        *(["", "```text", *bars, "```"] if bars else []),
        "", "## Items", "", *_table(*_items(of)), *parts,
        *(["", "## All submissions", "", *tabulated(submissions, ["name", "file", "points", "status"])]
          if submissions else []),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return tabulated([[text(content) for content in row] for row in rows], list(head))


def _items(of: Class) -> Table:
    rows = [(i.name, i.points, i.share, str(i.full), i.shown) for i in figures.items(of.rubric, of.grades)]
    return ("item", "points", "earned in the mean", "earned all", "shown to students"), rows


def _parts(of: Class) -> list[tuple[str, str, Table, str]]:
    """Return the tables under the distribution: name, title, table, and words on it."""
    mistakes, requirements = figures.mistakes(of.grades), figures.requirements(of.grades)
    look_at = [
        (line(grade.submission), cut(line(words), MOST)) for grade in of.grades for words in figures.to_look_at(grade)
    ]
    groups = [
        (", ".join(line(of.grades[n].submission) for n in group.numbers), group.why)
        for group in alike(of.grades, of.records)
    ]
    return [
        ("mistakes", "Frequent mistakes", (("submissions", "mistake", "in words", "component"), _rows(mistakes)), ""),
        ("requirements", "Requirements that fail most, at the root",
         (("submissions", "requirement", "sentence", "where"), _rows(requirements)), ""),
        ("look-at", "To look at", (("submission", "why"), look_at), ""),
        ("alike", "Alike (a hint)", (("submissions", "why"), groups), HOW),
    ]  # fmt: skip


def _rows(found: Iterable[figures.Frequent]) -> list[tuple[str, ...]]:
    return [(str(f.count), f.name, f.words, f.where) for f in found]
