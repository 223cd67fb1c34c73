"""``attnconf report`` as Markdown, for READMEs and the summaries of a CI: one screen, and the rest folded.

Made from any number of results records alone.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from tabulate import tabulate

from attnconf.reports import examples, failures, plots, tables, throughput
from attnconf.reports.comparison import choices, matrix, overview, runs
from attnconf.reports.comparison.visible import visible
from attnconf.reports.fitting import Titled, fitted
from attnconf.reports.merging import Judged, Named, judged, merged

Record = dict[str, Any]
Result = dict[str, Any]

MOST_BLOCKS = 10  # failures that are shown in full; the HTML report has all
MOST_ROWS = 60  # failures that are in the table
MOST_WORDS = 160  # characters of a cell
MOST_NAMES = 8  # of ids, or of implementations, in a cell
MOST_BYTES = 58_000  # of a report, which forges show up to 60 kB of; what is longer is cut, the longest part first


def page(records: Named, root: str | None = None, folder: str | None = None) -> str:
    """Return the report on records, each with the name of its file.

    ``root``: the way from the report to the folder that holds spec/, for links; None: name the place without a link.
    ``folder``: the way to the folder with the pictures of ``pictures``; None: there are no pictures.
    """
    shown = judged(records)
    entries = overview.entries(shown)
    one = len(shown) == 1
    numbers = ", ".join(f"{n} {verdict}" for verdict, n in overview.totals(entries).items())
    title = f"# {_text(shown[0].label)}: {numbers.split(' ', 1)[1]}" if one else f"# {len(shown)} implementations"
    head = [title, *_warnings(records), *([] if one else ["", f"{numbers}."])]
    table_ = _components(entries[0]) if one else _overview(entries)
    parts = [("", head), ("", table_), ("", _told(shown, root)), *_folded(shown, records, root, folder)]
    return "\n\n".join(_part(*part) for part in fitted([part for part in parts if part[1]], MOST_BYTES)) + "\n"


def _part(title: str, lines: Sequence[str]) -> str:
    body = "\n".join(lines)
    return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>" if title else body


def _folded(shown: list[Judged], records: Named, root: str | None, folder: str | None) -> list[Titled]:
    roots = [(i, r) for i in shown for r in failures.roots(i.record)]
    record = merged(shown)
    return [
        ("Failures in full", _blocks(shown, folder)),
        ("Known deviations", _known(roots)),
        ("Recommendations not followed", _recommendations(roots, root)),
        ("Not supported", _unsupported(record)),
        ("Faults of the suite", _faults(record)),
        ("Chapter by chapter", _chapters(matrix.columns(shown))),
        ("Choices", _choices(shown)),
        ("Not exercised", _blind_spots(record)),
        ("Throughput", throughput.markdown(records, folder)),
        ("Environment", _environment(records)),
    ]


# -- tables


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Return the lines of a Markdown table, or none if it has no rows."""
    content = [[_cell(cell) for cell in row] for row in rows]
    return tabulated(content, list(map(_cell, head))) if content else []


def tabulated(content: list[list[str]], head: list[str]) -> list[str]:
    """Return the lines of a Markdown table whose cells are Markdown."""
    lines = str(tabulate(content, headers=head, tablefmt="pipe", disable_numparse=True)).splitlines()
    lines[1] = re.sub("-+", "---", lines[1])
    return [" ".join(line.split()) for line in lines]  # a report is no larger for its widest cell


def _cell(content: object) -> str:
    return _text(content).replace("|", "\\|")


def _text(content: object) -> str:
    """Return a text on one line, with Markdown's special characters escaped."""
    text = " ".join(visible(str("" if content is None else content)).split())
    return text.replace("<", "&lt;").replace("*", "\\*").replace("`", "\\`")


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MOST_WORDS else text[: MOST_WORDS - 2] + " …"


def _names(names: Iterable[str]) -> str:
    known = list(dict.fromkeys(names))
    more = f" and {len(known) - MOST_NAMES} more" if len(known) > MOST_NAMES + 1 else ""
    return ", ".join(known[:MOST_NAMES] if more else known) + more


# -- the first screen


def _warnings(records: Named) -> list[str]:
    return [line for warning in runs.warnings(records) for line in ("", f"> **{_text(warning)}**")]


def _overview(entries: list[overview.Entry]) -> list[str]:
    qualities = [q for q in overview.QUALITIES if any(q in e.qualities for e in entries)]
    return table(
        ("implementation", "version", "verdict", "conformant components", *qualities, "broken"),
        [
            (e.label, e.version, e.verdict, f"{e.conforming} of {len(e.components)}", *_shares(e, qualities), e.broken)
            for e in entries
        ],
    )


def _shares(entry: overview.Entry, qualities: Sequence[str]) -> Iterable[str]:
    return ("{} of {}".format(*entry.qualities[q]) if q in entry.qualities else "" for q in qualities)


def _components(entry: overview.Entry) -> list[str]:
    qualities = [q for q in overview.QUALITIES if q in entry.qualities]
    rows = [
        (
            v["component"],
            v["verdict"],
            *(f"{n['met']} of {n['judged']}" if (n := v["qualities"].get(q)) else "" for q in qualities),
            ", ".join(f"{name}: {choice}" for name, choice in v["choices"].items()),
            v["reason"],
        )
        for v in entry.components
    ]
    return table(("component", "verdict", *qualities, "choices", "reason"), rows)


def _told(shown: list[Judged], root: str | None) -> list[str]:
    """Return the table of what lowers verdicts: the known mistake or what was found, and where it is."""
    counting = _counting(shown)
    rows = [
        [_cell(i.label), _cell(v["component"]), "", _cell(_cut(words)), ""]
        for i in shown for v in map(i.said, i.verdicts) for words in v["broken"]
    ]  # fmt: skip
    for i, same in counting[:MOST_ROWS]:
        r = same[0]
        mistakes = "; and ".join(m["story"] for m in r["diagnosis"]) or r["message"]
        places = [m["where"] for m in r["diagnosis"] if m.get("where")]
        where = places[0] if places else (r.get("advice") or {}).get("where")
        ids = _linked(_names(s["requirement"] for s in same), r["spec"], root)
        rows.append([_cell(i.label), _cell(r["component"]), ids, _cell(_cut(mistakes)), _cell(where)])
    head = ["implementation", "component", "requirement", "mistake, or what was found", "where"]
    more = len(counting[MOST_ROWS:])
    rest = ["", f"And {more} more, which the HTML report has."] if more else []
    return [*tabulated(rows, head), *rest] if rows else []


def _counting(shown: list[Judged]) -> list[tuple[Judged, list[Result]]]:
    """Return the failures that count and are not known, by their causes."""
    causes = [(i, same) for i in shown for same in failures.causes(i.record)]
    return [(i, same) for i, same in causes if same[0]["counts"] and not same[0]["deviation"]]


def _linked(text: str, place: str, root: str | None) -> str:
    return text if root is None else f"[{text}]({root}{place})"


# -- what is folded


def pictures(records: Named) -> dict[str, str]:
    """Return the pictures of the report on these records, SVG by the names of their files."""
    drawn = [same[0] for _, same in _counting(judged(records))[:MOST_BLOCKS]]
    return {examples.name(r): examples.svg(r) for r in drawn if r.get("leaks")} | plots.pictures(records)


def _blocks(shown: list[Judged], folder: str | None) -> list[str]:
    lines = []
    for i, same in _counting(shown)[:MOST_BLOCKS]:
        r, block = same[0], failures.block(i.record, same)
        lines += ["", "```text", *(visible(line).replace("```", "'''") for line in block), "```"]
        if folder is not None and r.get("leaks"):
            lines += ["", f"![who depends on whom]({folder}/{examples.name(r)})"]
    return lines[1:]


def _known(roots: list[tuple[Judged, Result]]) -> list[str]:
    groups: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for i, r in roots:
        if r["deviation"]:
            key = (r["deviation"]["reason"], r["deviation"]["link"])
            groups.setdefault(key, []).append((i.label, r["requirement"]))
    rows = [
        (_names(ids for _, ids in found), _names(label for label, _ in found), reason, link)
        for (reason, link), found in groups.items()
    ]
    return table(("requirement", "implementation", "reason", "link"), rows)


def _recommendations(roots: list[tuple[Judged, Result]], root: str | None) -> list[str]:
    groups: dict[str, list[tuple[Judged, Result]]] = {}
    for i, r in roots:
        if r["strength"] != "MUST" and not r["counts"] and not r["deviation"]:
            groups.setdefault(r["requirement"], []).append((i, r))
    rows = [
        [_linked(name, found[0][1]["spec"], root), found[0][1]["quality"], _cell(_cut(found[0][1]["sentence"])),
         _cell(_names(i.label for i, _ in found))]
        for name, found in groups.items()
    ]  # fmt: skip
    return tabulated(rows, ["requirement", "quality", "sentence", "not followed by"]) if rows else []


def _unsupported(record: Record) -> list[str]:
    groups: dict[tuple[str, str], list[str]] = {}
    for r in record["results"]:
        if r["outcome"] in ("unsupported", "not-run"):
            groups.setdefault((r["implementation"], r["message"]), []).append(r["requirement"])
    rows = [(name, _cut(words or ""), _names(requirements)) for (name, words), requirements in groups.items()]
    return table(("implementation", "in its words", "requirements"), rows)


def _faults(record: Record) -> list[str]:
    groups: dict[tuple[str, str], list[Result]] = {}
    for r in record["results"]:
        if r["outcome"] == "error":
            groups.setdefault((r["implementation"], r["message"] or ""), []).append(r)
    rows = [
        (name, _names(r["component"] for r in same), _names(r["requirement"] for r in same), _cut(message))
        for (name, message), same in groups.items()
    ]
    return table(("implementation", "component", "requirement", "fault"), rows)


def _chapters(shown: list[Judged]) -> list[str]:
    """Return implementations by chapters: how many requirements fail at the root and count, of how many judged."""
    names: dict[str, None] = {}
    counted: dict[str, dict[str, list[int]]] = {}
    for i in shown:
        for r in i.results:
            if r["outcome"] in ("pass", "fail"):
                chapter = tables.chapter(r)
                names[chapter] = None
                numbers = counted.setdefault(i.label, {}).setdefault(chapter, [0, 0])
                numbers[0] += matrix.letter_of(r) in "fo"
                numbers[1] += 1
    rows = [(i.label, *(_failing(counted.get(i.label, {}).get(chapter)) for chapter in names)) for i in shown]
    legend = "How many requirements were judged; behind ✗ how many fail, but for known deviations and recommendations."
    return [*table(("implementation", *names), rows), "", legend] if names else []


def _failing(numbers: list[int] | None) -> str:
    if numbers is None:
        return ""
    wrong, looked_at = numbers
    return f"✗ {wrong} of {looked_at}" if wrong else str(looked_at)


def _choices(shown: list[Judged]) -> list[str]:
    made = choices.choices(matrix.columns(shown), {})
    rows = [(c.name, what, ", ".join(labels)) for c in made for what, labels in c.chosen.items()]
    return table(("choice", "made", "by"), rows)


def _blind_spots(record: Record) -> list[str]:
    """Return the lines on code of users' files that no check executed, if a run looked for it."""
    rows = [
        (i["name"], f"{s['file']}:{s['first']}-{s['last']}", s["kind"], s["code"])
        for i in record["implementations"]
        for s in i.get("blind_spots") or []
    ]
    return table(("implementation", "lines", "kind", "code"), rows)


def _environment(records: Named) -> list[str]:
    rows = [(run["file"], name, text) for run in runs.runs(records) for name, text in run["rows"]]
    return table(("file", "", ""), rows)
