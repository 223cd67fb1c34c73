"""Tables of outcomes: a line for each section of the spec's pages, and requirements by implementations.

Made from the record alone.
"""

import io
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

Record = dict[str, Any]
Result = dict[str, Any]

SHORT = {
    "pass": "pass", "fail": "FAIL", "unsupported": "unsupported", "not-applicable": "-", "not-run": "not run",
    "error": "ERROR",
}  # fmt: skip
LEGEND = {  # beginning or end of a cell -> its meaning
    "FAIL": "FAIL: at the root",
    "follows": "follows: a consequence of it",
    "not met": "not met: only recommended",
    "differs": "differs: as the file was read, which nothing confirmed",
    "known": "known: listed beside the adapter, with reason and link",
    "-": "-: does not apply, as it needs what the component lacks",
}
LINES = "    \n    \n -- \n    \n    \n    \n    \n    \n"  # of the table: one under its head
FEW_CHAPTERS = 3  # chapters with all sections listed; with more chapters, one without failures has one line
_WORST_FIRST = ("error", "fail", "not met", "differs", "unsupported", "not-run", "pass", "not-applicable")
_COUNTED = ("fail", "follows", "not met", "error", "unsupported", "not-run")
_SAID = {"fail": "failed", "follows": "follow", "not met": "could be better", "error": "errors", "not-run": "not run"}


# -- sections


def sections(record: Record) -> list[str]:
    """Return a line for each judged section of the spec's pages, by chapters."""
    counted = list(_folded(_counts(record)))
    if not counted:
        return []
    chapters, titles = (max(len(row[i]) for row in counted) for i in (0, 1))
    lines, last = [""], ""
    for name, title, counts in counted:
        first = name if name != last else ""
        rest = [
            f"{counts[o]} {_SAID.get(o, o)}{'s' * (o == 'follows' and counts[o] == 1)}" for o in _COUNTED if counts[o]
        ]
        line = f"{first:<{chapters}}  {title:<{titles}}  {counts['pass']:>3} passed  {'  '.join(rest)}"
        lines.append(line.rstrip())
        last = name
    return lines


def _counts(record: Record) -> dict[tuple[str, str], Counter[str]]:
    """Return the number of requirements by section and outcome, without those that are not applicable."""
    by_section: dict[tuple[str, str], Counter[str]] = {}
    for r in record["results"]:
        if r["outcome"] != "not-applicable":
            word = _counted_as(record, r)
            by_section.setdefault((chapter(r), r.get("topic") or "all"), Counter())[word] += 1
    return by_section


def chapter(result: Result) -> str:
    """Return the chapter of a result's requirement, in words."""
    name: str = result["spec"].removeprefix("spec/").partition(".md")[0].removesuffix("/requirements")
    return name.replace("multi_head", "multi-head").replace("_", " ")


def _folded(counts: dict[tuple[str, str], Counter[str]]) -> Iterator[tuple[str, str, Counter[str]]]:
    """Yield (chapter, section, counts); with many chapters, a chapter without failures is a single row."""
    by_chapter: dict[str, dict[str, Counter[str]]] = {}
    for (chapter, section), counter in counts.items():
        by_chapter.setdefault(chapter, {})[section] = counter
    for chapter, of_section in by_chapter.items():
        total = sum(of_section.values(), Counter[str]())
        if len(by_chapter) > FEW_CHAPTERS and set(total) == {"pass"}:
            yield chapter, f"all {len(of_section)} sections" if len(of_section) > 1 else "", total
        else:
            yield from ((chapter, section, counter) for section, counter in of_section.items())


def _outcome(record: Record, r: Result) -> str:
    """Return an outcome; "not met" for the failure of a recommendation, "differs" for that of a mere reading."""
    if r["outcome"] == "fail" and not r["settled"]:
        return "differs"
    return "not met" if r["outcome"] == "fail" and not r["counts"] else str(r["outcome"])


def _counted_as(record: Record, r: Result) -> str:
    """Return the outcome as which a result is counted: "follows" for the consequence of another failure."""
    return "follows" if r["outcome"] == "fail" and r["follows_from"] else _outcome(record, r)


# -- verdicts

WORDS = {
    "follows": "follow",
    "not met": "could be better",
    "differs": "differ",
}  # said of numbers, where it is not the outcome itself
IN_ORDER = ("pass", "fail", "follow", "could be better", "differ", "error", "not-applicable", "not-run", "unsupported")


def counts(record: Record, verdict: Result) -> dict[str, int]:
    """Return the numbers of requirements behind a verdict, in order; what follows from a failure is counted apart."""
    mine = (verdict["implementation"], verdict["component"])
    results = [r for r in record["results"] if (r["implementation"], r["component"]) == mine]
    numbers = Counter(WORDS.get(of, of) for of in (_counted_as(record, r) for r in results))
    return {word: numbers[word] for word in IN_ORDER if numbers[word]}


# -- requirements by implementations


def cell(results: Iterable[tuple[str, Result]]) -> str:
    """Return the worst outcome of one requirement on one implementation, with the component if several differ."""
    results = list(results)
    outcomes = [outcome for outcome, _ in results]
    if not outcomes:
        return ""
    worst = next(o for o in _WORST_FIRST if o in outcomes)
    text = SHORT.get(worst, worst)
    if worst != "not-applicable" and len(set(outcomes) - {"not-applicable"}) > 1:
        text = f"{text} ({', '.join(r['component'] for o, r in results if o == worst)})"
    failed = [r for _, r in results if r["outcome"] == "fail"]
    if worst in ("fail", "not met") and all(r["follows_from"] for r in failed):
        text = text.replace("FAIL", "follows").replace("not met", "follows")
    return text + (", known" if failed and worst in ("fail", "not met") and all(r["deviation"] for r in failed) else "")


def rows(record: Record) -> list[list[str]]:
    """Return one row for each requirement: id, strength, and a cell for each implementation.

    The strength of a law of every call may be another on another component: "MUST or SHOULD".
    """
    names = [i["name"] for i in record["implementations"] if i["components"]]
    levels: dict[str, set[str]] = {}
    outcomes: dict[tuple[str, str], list[tuple[str, Result]]] = {}
    for r in record["results"]:
        levels.setdefault(r["requirement"], set()).add(r["strength"])
        outcomes.setdefault((r["requirement"], r["implementation"]), []).append((_outcome(record, r), r))
    return [
        [name, " or ".join(sorted(strengths))] + [cell(outcomes.get((name, i), [])) for i in names]
        for name, strengths in levels.items()
    ]


def table(record: Record, width: int) -> list[str]:
    """Return the table of requirements by implementations; cells are broken if the table would be too wide."""
    content = rows(record)
    if not content:
        return []
    from rich.box import Box
    from rich.console import Console
    from rich.table import Table

    drawn = Table(box=Box(LINES, ascii=True), show_edge=False, pad_edge=False)
    names = [i["name"] for i in record["implementations"] if i["components"]]
    for n, title in enumerate(("requirement", "", *names)):
        drawn.add_column(title, no_wrap=n < 2, overflow="fold")
    for row in content:
        drawn.add_row(*row)
    page = io.StringIO()
    console = Console(file=page, width=max(width, 30 + 12 * len(names)), color_system=None, markup=False, emoji=False)
    console.print(drawn)
    lines = [line.rstrip() for line in page.getvalue().splitlines()]
    cells = [row_cell for row in content for row_cell in row[2:]]
    legend = [meaning for word, meaning in LEGEND.items() if any(_begins_or_ends(c, word) for c in cells)]
    return ["", *lines, *(["", *textwrap.wrap("; ".join(legend), max(width, 40))] if legend else [])]


def _begins_or_ends(text: str, word: str) -> bool:
    return text.startswith(word) or text.endswith(word)
