"""A run as a piece of HTML for a notebook: self-contained, readable on light and on dark.

Made from the record alone.
"""

from collections.abc import Callable, Iterable
from html import escape
from typing import Any

from attnconf.reports import failures, summary, tables, terminal, unrecognised

Record = dict[str, Any]
Rewrite = Callable[[str], str]

STYLE = """
.attnconf {font-size: 0.95em; line-height: 1.45}
.attnconf table {border-collapse: collapse; margin: 0.4em 0}
.attnconf th, .attnconf td {text-align: left; padding: 0.15em 0.8em 0.15em 0; vertical-align: top;
  border-bottom: 1px solid rgba(128, 128, 128, 0.35)}
.attnconf pre {white-space: pre-wrap; padding: 0.5em 0.8em; margin: 0.3em 0 0.6em; color: inherit;
  background: rgba(128, 128, 128, 0.12); border-left: 3px solid #b3261e}
.attnconf pre.sections {border-left: none}
.attnconf summary {cursor: pointer}
.attnconf .verdict {color: #fff; padding: 0.05em 0.5em; border-radius: 0.3em; white-space: nowrap}
.attnconf .conformant, .attnconf .pass {background: #1b7f3b}
.attnconf .nonconformant, .attnconf .FAIL {background: #b3261e}
.attnconf .unrecognised {background: #9a3b00}
.attnconf .incomplete {background: #8a6100}
.attnconf .not-gradable {background: #5f6368}
.attnconf .small {opacity: 0.75; font-size: 0.9em}
"""  # white on these colours, and text in the notebook's own: both themes stay readable


def html(record: Record, rewrite: Rewrite = str) -> str:
    """Return verdicts, the summary, the failures, what holds, and the table.

    ``rewrite`` is applied to every line of a failure.
    """
    shown = failures.blocks(record)
    parts = [
        f"<style>{STYLE}</style>",
        _verdicts(record),
        "".join(_line(line) for i in record["implementations"] if not i["components"] for line in i.get("bound", ())),
        "".join(_line(line) for line in summary.summary(record) if line),
        *(_failure([rewrite(line) for line in lines], n == 0) for n, lines in enumerate(shown)),
        *(_failure(lines, n == 0) for n, lines in enumerate(unrecognised.blocks(record))),
        _sections(record),
        "".join(_line(line) for line in summary.blind_spots(record) if line),
        _requirements(record),
        f'<div class="small">{escape(terminal.header(record)[0])}</div>',
    ]
    return f'<div class="attnconf">{"".join(parts)}</div>'


def _line(text: str) -> str:
    label, colon, rest = text.partition(":")
    if rest[:1] != " ":  # "file.py:Class", one of several
        label, colon, rest = text, "", ""
    return f"<div><b>{escape(label)}</b>{colon}{escape(rest)}</div>"


def _verdicts(record: Record) -> str:
    rows = [
        (
            escape(v["implementation"]),
            escape(v["component"] or ""),
            f'<span class="verdict {escape(v["verdict"])}">{escape(v["verdict"])}</span>',
            escape(", ".join(f"{n} {outcome}" for outcome, n in tables.counts(record, v).items())),
            escape(v["reason"]),
        )
        for v in record["verdicts"]
    ]
    return _table(("implementation", "component", "verdict", "requirements", "why"), rows)


def _failure(lines: list[str], shown: bool) -> str:
    body = escape("\n".join(lines[1:]))
    return f"<details{' open' * shown}><summary><b>{escape(lines[0])}</b></summary><pre>{body}</pre></details>"


def _sections(record: Record) -> str:
    lines = tables.sections(record)[1:] if summary.is_one(record["implementations"]) else []
    body = f'<pre class="sections">{escape(chr(10).join(lines))}</pre>'
    return f"<details><summary>what holds, section by section</summary>{body}</details>" if lines else ""


def _requirements(record: Record) -> str:
    names = [i["name"] for i in record["implementations"] if i["components"]]
    rows = [[escape(name), escape(strength), *map(_cell, cells)] for name, strength, *cells in tables.rows(record)]
    if not rows:
        return ""
    title = f"<summary>all {len(rows)} requirements</summary>"
    return f"<details>{title}{_table(('requirement', '', *map(escape, names)), rows)}</details>"


def _cell(text: str) -> str:
    first = text.split(" ")[0].rstrip(",")
    return f'<span class="verdict {first}">{escape(text)}</span>' if first in ("pass", "FAIL") else escape(text)


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = ["".join(f"<td>{cell}</td>" for cell in row) for row in rows]
    titles = "".join(f"<th>{title}</th>" for title in head)
    return f"<table><tr>{titles}</tr>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"
