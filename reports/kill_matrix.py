"""The kill matrix as Markdown, and the tables of common mistakes for the spec's pages: pure functions of plain data."""

from collections.abc import Iterable
from typing import Any

Record = dict[str, Any]

END = "<!-- end -->"
INTRODUCTION = """\
# Kill matrix

Every check has been seen to fail. Each mutant below is the reference with one thing wrong; each was judged as if it were an implementation, on every component, by every check.
*Breaks* lists the roots of its failures; *follow* counts the failures whose presuppositions failed too; *shown on* names the components on which it fails.
This page is written by `python -m attnconf.conformance.run.matrix`, and a test fails when it is out of date.

![requirements by mutants, a dot where the one catches the other](kill-matrix.svg)"""  # noqa: E501


def render(record: Record) -> str:
    """Return the whole page."""
    lines = [INTRODUCTION, "", *_totals(record)]
    for chapter in record["chapters"]:
        lines += ["", f"## {chapter}", "", *_mutants(record, chapter)]
        lines += ["", f"### Who kills what: {chapter}", "", *_requirements(record, chapter)]
    lines += ["", "## Equivalent mutants", "", *_equivalents(record)]
    return "\n".join(lines) + "\n"


def _totals(record: Record) -> list[str]:
    mutants = {m["id"] for m in record["mutants"]}
    killed = {row["mutant"] for row in record["rows"] if row["roots"]} & mutants
    return table(
        ("", "number"),
        [
            ("mutants", len(mutants)),
            ("of these killed", len(killed)),
            ("equivalent mutants", len(record["equivalents"])),
            ("requirements", len(record["requirements"])),
            ("of these the root of some mutant", len(killers(record))),
            ("verdicts", sum(len(row["judged"]) for row in record["rows"])),
        ],
    )


def _mutants(record: Record, chapter: str) -> list[str]:
    lines = []
    for mutant in record["mutants"]:
        if mutant["chapter"] == chapter:
            rows = [row for row in record["rows"] if row["mutant"] == mutant["id"]]
            roots = sorted({root for row in rows for root in row["roots"]})
            follow = ", ".join(str(len(row["consequences"])) for row in rows if row["roots"])
            shown = ", ".join(row["component"] for row in rows if row["roots"])
            lines.append((mutant["id"], mutant["story"], ", ".join(roots), follow, shown))
    return table(("mutant", "story", "breaks", "follow", "shown on"), lines)


def _requirements(record: Record, chapter: str) -> list[str]:
    caught = killers(record)
    return table(
        ("requirement", "strength", "killed by"),
        [
            (r["id"], r["strength"], ", ".join(caught.get(r["id"], [])))
            for r in record["requirements"]
            if r["chapter"] == chapter
        ],
    )


def killers(record: Record) -> dict[str, list[str]]:
    """Return the mutants that each requirement fails on at the root, in the order of the mutants."""
    killers: dict[str, dict[str, None]] = {}
    for row in record["rows"]:
        for root in row["roots"]:
            killers.setdefault(root, {})[row["mutant"]] = None
    return {root: list(mutants) for root, mutants in killers.items()}


def _equivalents(record: Record) -> list[str]:
    link = "[conformance/chapters/equivalent_mutants.md](../conformance/chapters/equivalent_mutants.md)"
    lines = table(("mutant", "story"), [(m["id"], m["story"]) for m in record["equivalents"]])
    return [f"These change nothing that can be observed; the proofs are in {link}.", "", *lines]


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> list[str]:
    """Return the lines of a Markdown table."""
    head = list(head)
    return [_line(head), "|" + "---|" * len(head), *(_line(row) for row in rows)]


def _line(cells: Iterable[object]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


# -- common mistakes, on the pages of the spec


def has_mistakes(page: str, chapter: str) -> bool:
    """Return whether a page has the markers between which its table of mistakes stands."""
    return _begin(chapter) in page


def _begin(chapter: str) -> str:
    return f"<!-- mistakes: made from the mutants in conformance/chapters/{chapter} -->"


def with_mistakes(page: str, record: Record, chapter: str) -> str:
    """Return a page with its table of mistakes made anew. Raises ValueError where the end marker is missing."""
    before, begin, rest = page.partition(_begin(chapter))
    _, end, after = rest.partition(END)
    if not end:
        raise ValueError(f"the page {chapter} has {begin} without {END} after it")
    lines = table(
        ("Mistake", "Breaks", "Hint", "Seen in"),
        [
            (m["story"], ", ".join(_linked(root, record) for root in m["breaks"]), m["hint"], m["source"])
            for m in record["mutants"]
            if m["chapter"] == chapter
        ],
    )
    return "\n".join([before + begin, "", *lines, "", end + after])


def _linked(requirement: str, record: Record) -> str:
    """Return a link to a requirement on its chapter's page."""
    page = next(r["chapter"] for r in record["requirements"] if r["id"] == requirement)
    return f"[{requirement}]({page}.md#{requirement.lower()})"
