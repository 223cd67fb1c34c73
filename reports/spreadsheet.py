"""Results as CSV: a row for each, for a spreadsheet or a data frame."""

import csv
import io
from typing import Any

from attnconf.reports.comparison.evidence import budget
from attnconf.reports.comparison.matrix import OF_LETTER, letter_of
from attnconf.reports.comparison.visible import visible
from attnconf.reports.merging import Judged, Named, judged

HEAD = (
    "file", "complete", "implementation", "version", "component", "lens", "requirement", "strength", "quality",
    "outcome", "counts", "found", "mistake", "follows from", "cases", "share of the bound", "seconds",
)  # fmt: skip


def sheet(records: Named) -> str:
    """Return the rows of all results, under their head."""
    page = io.StringIO()
    writer = csv.writer(page, lineterminator="\n")
    writer.writerow(HEAD)
    for i in judged(records):
        writer.writerows([_safe(cell) for cell in _row(i, r)] for r in i.results)
    return page.getvalue()


def _row(i: Judged, r: dict[str, Any]) -> tuple[object, ...]:
    complete = "yes" if i.record["complete"] else "no"
    mistakes = "; and ".join(mistake["story"] for mistake in r["diagnosis"])
    return (
        i.file, complete, i.label, i.entry["version"], r["component"], r["lens"], r["requirement"], r["strength"],
        r["quality"], OF_LETTER[letter_of(r)].word, "yes" if r["counts"] else "no", r["message"], mistakes,
        " ".join(r["follows_from"]), len(r["cases"]), budget(r), r["seconds"],
    )  # fmt: skip


def _safe(cell: object) -> object:
    """Return a cell that no spreadsheet takes for a formula."""
    if not isinstance(cell, str):
        return cell
    text = visible(cell)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text
