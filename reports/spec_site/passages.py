"""What the pages say around a requirement, as HTML: the formulas of its section, and its notes."""

import posixpath
import re
from collections.abc import Iterator, Sequence
from functools import cache
from html import escape
from typing import Any

from attnconf.reports.spec_site import formulas
from attnconf.spec.registry import CHAPTERS, PAGES

_ROW = re.compile(r"\| `([\w-]+)`(?:, `[\w-]+`)* \| (.+?) \|")


def passages(root: str | None) -> dict[str, list[str]]:
    """Return every requirement's passages. ``root``: the way to the folder that holds spec/, for links, or None."""
    found = {}
    for chapter in CHAPTERS.values():
        for name, *around in _around((PAGES / f"{chapter}.md").read_text(encoding="utf-8").splitlines()):
            found[name] = [_html("\n".join(lines), root) for lines in around if lines]
    return found


def choices(root: str | None) -> dict[str, str]:
    """Return what may be chosen, by the name of the choice, in the order of the page."""
    return {name: _html(said, root) for name, said, _ in rows()}


def rows() -> Iterator[tuple[str, str, str]]:
    """Yield each choice's name, what may be chosen, as Markdown, and the heading over it."""
    heading = ""
    for line in (PAGES / "choices.md").read_text(encoding="utf-8").splitlines():
        heading = line.removeprefix("## ") if line.startswith("## ") else heading
        if row := _ROW.match(line):
            yield row[1], row[2], heading


def _around(lines: Sequence[str]) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield each requirement's id, the formulas before it in its section (else on the page), and its notes."""
    of_page: list[str] = []
    of_section: list[str] = []
    name, notes, in_section = "", list[str](), False
    for line in [*lines, "## "]:
        if line.startswith("#") and name:
            yield name, of_section or of_page, notes
            name, notes = "", []
        if line.startswith("## "):
            in_section, of_section = True, []
        elif line.startswith("#### "):
            name = line.removeprefix("#### ").strip()
        elif line.startswith("    ") and not name:
            (of_section if in_section else of_page).append(line)
        elif name and line.startswith(">"):
            notes.append(line)
        elif name and notes and notes[-1]:
            notes.append("")


def _html(markdown: str, root: str | None) -> str:
    return str(_markdown().render(markdown, {"root": root})).strip()


@cache
def _markdown() -> Any:
    from markdown_it import MarkdownIt

    return _of_passages(MarkdownIt("commonmark", {"html": False}))


def _of_passages(reader: Any) -> Any:
    """Return the reader: its formulas are set, its links lead from the report to the page, or are their words alone."""

    def block(self: Any, tokens: Any, at: int, options: Any, env: Any) -> str:
        text = tokens[at].content
        return formulas.block(text) or f'<pre tabindex="0">{escape(text)}</pre>\n'

    def opened(self: Any, tokens: Any, at: int, options: Any, env: Any) -> str:
        if env["root"] is None:
            return "<span>"
        place = posixpath.normpath(posixpath.join("spec", tokens[at].attrs["href"]))
        return f'<a href="{env["root"]}{place}">'

    def closed(self: Any, tokens: Any, at: int, options: Any, env: Any) -> str:
        return "</span>" if env["root"] is None else "</a>"

    reader.add_render_rule("code_block", block)
    reader.add_render_rule("link_open", opened)
    reader.add_render_rule("link_close", closed)
    return reader
