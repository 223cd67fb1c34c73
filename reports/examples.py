"""The pictures under a failure, as text and as SVG: the smallest example, and who depends on whom."""

import re
import textwrap
from collections import Counter
from collections.abc import Iterable
from html import escape
from typing import Any

Result = dict[str, Any]
LEGEND = "o allowed  . none  X forbidden  ! missing"
DIAGONAL = "the diagonal says nothing of a mask: token i is query i as well, so output i may always depend on it"
WIDTH = 100  # characters: what is longer stands on lines of its own
SIDE = 22  # pixels: of one cell
COLOURS = {".": "#ffffff", "o": "#9ecae1", "X": "#d62728", "!": "#ff9f1c"}


def example(result: Result, width: int = WIDTH) -> list[str]:
    """Return the lines of the smallest example, of at most ``width`` characters if possible; [] without one."""
    picture = result.get("example")
    if not picture:
        return []
    inputs = [f"{x['name']} = {_text(x['value'])}" for x in picture["inputs"]]
    width = min(width, WIDTH)
    lines = _side_by_side(inputs, width)
    if picture["notes"]:
        lines.append(f"({'; '.join(picture['notes'])})")
    wide = max(len(step["name"]) for step in picture["steps"])
    seen = any(step["yours"] is not None for step in picture["steps"][:-1])
    for step in picture["steps"]:
        lines += _step(step, wide, "first difference" if seen else "differs", width)
    return [part for line in lines for part in _broken(line, width)]


def _broken(line: str, width: int) -> list[str]:
    """Return a line that is too long on several, the others under the first number or word."""
    numbers, words = re.search(r"[\[(]+", line), re.search(r"yours (?=[a-z])", line)
    under = words or numbers
    indent = " " * (under.end() if under else 0)
    return textwrap.wrap(line, width, subsequent_indent=indent, break_long_words=False) if len(line) > width else [line]


def _side_by_side(texts: Iterable[str], width: int) -> list[str]:
    lines = [""]
    for text in texts:
        joined = f"{lines[-1]}   {text}".strip()
        if len(joined) <= width:
            lines[-1] = joined
        else:
            lines.append(text)
    return [line for line in lines if line]


def _step(step: dict[str, Any], wide: int, mark: str, width: int) -> list[str]:
    head, got = f"{step['name']:<{wide}}  reference {_text(step['reference'])}", step["yours"]
    if got is None:
        return [head]
    yours = f"yours {_text(got)}" if step["differs"] else "yours the same"
    yours += f"   <- {mark}" if step["first"] else ""
    whole = f"{head}   {yours}"
    return [whole] if len(whole) <= width else [head, f"{'':<{wide}}  {yours}"]


def _text(x: Any) -> str:
    """Return numbers with three digits, in brackets as they are nested."""
    if isinstance(x, list):
        return f"[{', '.join(map(_text, x))}]"
    return x if isinstance(x, str) else f"{x:.3g}"


def leaks(result: Result) -> list[str]:
    """Return the lines of the map of dependences; [] without one."""
    dependency = result.get("leaks")
    if not dependency:
        return []
    row, columns = _word(dependency["rows"][0]), list(dict.fromkeys(map(_word, dependency["columns"])))
    lines = [f"rows: {'output of ' * (row != 'out')}{row} i, columns: {', '.join(f'{c} j' for c in columns)}"]
    lines[0] += f"   ({dependency['what']})"
    wide = max(len(_number(name)) for name in (*dependency["rows"], *dependency["columns"]))
    lines.append(" " * wide + _spaced([_number(name) for name in dependency["columns"]], dependency["columns"], wide))
    for name, cells in zip(dependency["rows"], dependency["cells"], strict=True):
        lines.append(f"{_number(name):>{wide}}" + _spaced(cells, dependency["columns"], wide))
    return [*lines, LEGEND, *([DIAGONAL] if _at_once(dependency) else [])]


def _at_once(dependency: dict[str, Any]) -> bool:
    """Return whether each token is both query and key: there are as many tokens as outputs."""
    words = Counter(map(_word, dependency["columns"]))
    return any(words[word] == len(dependency["rows"]) for word in ("token", "target"))


def _spaced(cells: Iterable[str], columns: list[str], wide: int) -> str:
    """Return the cells of a row, with a gap where another sequence begins."""
    words = [_word(name) for name in columns]
    gaps = ["  " if i and words[i] != words[i - 1] else "" for i in range(len(words))]
    return " " + "".join(f"{gap} {cell:>{wide}}" for gap, cell in zip(gaps, cells, strict=True))


def _word(name: str) -> str:
    return name.rpartition(" ")[0]


def _number(name: str) -> str:
    return name.rpartition(" ")[2]


# -- in reports


def markdown(result: Result, folder: str | None) -> list[str]:
    """Return both in Markdown; ``folder``: where the pictures of the report are, or None."""
    lines = []
    for title, text in (("Smallest example", example(result)), ("Who depends on whom", leaks(result))):
        if text:
            lines += ["", f"{title}:", "", "```text", *text, "```"]
    if folder is not None and result.get("leaks"):
        lines += ["", f"![who depends on whom]({folder}/{name(result)})"]
    return lines


def name(result: Result) -> str:
    """Return the name of a result's picture."""
    parts = (result["implementation"], result["component"], result["lens"], result["requirement"])
    return re.sub(r"[^A-Za-z0-9.]+", "-", "-".join(parts)).strip("-.") + ".svg"


def svg(result: Result) -> str:
    """Return the map of dependences as a picture: a row of squares for each position of the output."""
    dependency = result["leaks"]
    across, left, top = len(dependency["columns"]), 90, 90
    width, height = left + SIDE * across + 10, top + SIDE * len(dependency["rows"]) + 60
    parts = [_label(left - 6, top + SIDE * i + 15, text, "end") for i, text in enumerate(dependency["rows"])]
    parts += [_upright(left + SIDE * j + 15, top - 6, text) for j, text in enumerate(dependency["columns"])]
    for i, cells in enumerate(dependency["cells"]):
        parts += [_square(left + SIDE * j, top + SIDE * i, cell) for j, cell in enumerate(cells)]
    for k, line in enumerate(textwrap.wrap(dependency["what"], max(20, width // 6))[:2]):
        parts.append(_label(4, height - 38 + 14 * k, line, "start"))
    parts.append(_label(4, height - 8, LEGEND, "start"))
    size = f'width="{max(width, 300)}" height="{height}"'
    style = 'font-family="monospace" font-size="11"'
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>', *parts, "</svg>"]) + "\n"


def _square(x: int, y: int, cell: str) -> str:
    shape = f'<rect x="{x}" y="{y}" width="{SIDE}" height="{SIDE}" fill="{COLOURS[cell]}" stroke="#888888"/>'
    return shape if cell in ".o" else shape + _label(x + SIDE // 2, y + 15, cell, "middle")


def _label(x: int, y: int, text: str, anchor: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'


def _upright(x: int, y: int, text: str) -> str:
    return f'<text transform="translate({x} {y}) rotate(-90)">{escape(text)}</text>'
