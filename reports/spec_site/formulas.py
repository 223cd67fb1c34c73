"""The blocks of formulas on a page, as HTML: a row for each line, its name, both sides and what is said of it."""

import re
from collections.abc import Iterator
from html import escape

from attnconf.reports.spec_site import notation
from attnconf.reports.spec_site.notation import Token, Unreadable

_LABEL = re.compile(r"([a-z][a-z0-9]*(?=\s{2,})|[a-z][a-z0-9 ,-]*:(?=\s))\s*")
_ALIGNED = re.compile(r" +([=≤]) ")
_APART = re.compile(r"\s{2,}")
_SENTENCE = re.compile(  # begins so: a word that is no factor, on a line without an equation; two words; a name; a file
    r"[A-Za-z][A-Za-z.-]+(?![\w.(\[^'])(?!.*?\s[=≤])|[a-z]{2,}\s[a-z]{2,}|[A-Z]\w+:|\w+\.md|[a-z]{3,}_[a-z]{3,}"
)
_INDEXED = re.compile(r"([A-Za-z\u0391-\u03c9]'?_[A-Za-z0-9]{1,3})(?![\w.])")
Cell = tuple[str, str]  # (class, HTML)


def block(text: str) -> str | None:
    """Return a block of formulas as HTML, or None for what is none: it is shown as it stands."""
    if '"' in text or not re.search("[=≤]", text):
        return None
    try:
        rows = [_row(line) for line in text.rstrip("\n").split("\n") if line.strip()]
    except Unreadable:
        return None
    named = any(cells[0] for cells in rows)
    lines = ["".join(_cell(cell) for cell in (cells if named else cells[1:])) for cells in rows]
    body = "".join(f'<div class="line">{line}</div>' for line in lines)
    return f'<div class="formula" tabindex="0" role="group" aria-label="formula">{body}</div>\n'


def _cell(cell: Cell | None) -> str:
    kind, content = cell or ("name", "")
    return f'<span class="{kind}">{content}</span>'


def _row(line: str) -> list[Cell | None]:
    """Return the cells of a line: its name if it has one, the left side, the right side, and what is said of it."""
    line = _ALIGNED.sub(r" \1 ", line)
    label = _LABEL.match(line)
    name: Cell | None = ("name", escape(label[1])) if label else None
    first, *others = _chunks((line[label.end() :] if label else line).strip())
    said = _sentence(others.pop()) if others and _SENTENCE.match(others[-1]) else ""
    left, right = _sides(first)
    also = "".join(f' <span class="also">{_chunk(other)}</span>' for other in others)
    return [name, ("left", left), ("right", right + also), ("said", said)]


def _chunks(line: str) -> list[str]:
    """Return what several spaces part, outside of brackets."""
    chunks = [""]
    for part in _APART.split(line):
        if chunks[-1].count("(") > chunks[-1].count(")"):
            chunks[-1] += f" {part}"
        else:
            chunks.append(part)
    return chunks[1:]


def _sides(chunk: str) -> tuple[str, str]:
    """Return both sides of an equation; of what is none, nothing and the whole."""
    if _SENTENCE.match(chunk):
        return "", _sentence(chunk)
    found = notation.tokens(chunk)
    for at, depth, token in _with_depth(found):
        if not depth and token.text in notation.RELATIONS:
            if any(kind == "prose" for kind, _ in notation.pieces(found[: at + 1])):
                break
            return notation.math(found[:at]), _told(found[at:])
    return "", _told(found)


def _with_depth(found: list[Token]) -> Iterator[tuple[int, int, Token]]:
    depth = 0
    for at, token in enumerate(found):
        depth += (token.kind == "open") - (token.kind == "close")
        yield at, depth, token


def _chunk(chunk: str) -> str:
    return _sentence(chunk) if _SENTENCE.match(chunk) else _told(notation.tokens(chunk))


def _sentence(text: str) -> str:
    parts = _INDEXED.split(text)
    return "".join(notation.math(notation.tokens(x)) if n % 2 else escape(x) for n, x in enumerate(parts))


def _told(found: list[Token]) -> str:
    """Return a formula, the sentences in it as text that can be broken into lines."""
    told = ""
    for kind, run in notation.pieces(found):
        text = "".join(f" {token.text}" if token.spaced else token.text for token in run)
        gap = " " if run[0].spaced else ""
        told += f"{gap}{notation.math(run)}" if kind == "math" else escape(text)
    return told.strip()
