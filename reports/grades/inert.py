"""Texts that came from a submission, as each form can hold them: nothing in them is code, markup or a formula."""

import re
from collections.abc import Iterable

from attnconf.reports.comparison.visible import visible

DIGITS = 5  # of points, behind the point: what is summed is rounded before
LARGEST = 1e12  # points
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\N{FULLWIDTH EQUALS SIGN}", "\N{FULLWIDTH PLUS SIGN}",
           "\N{FULLWIDTH HYPHEN-MINUS}", "\N{FULLWIDTH COMMERCIAL AT}")  # fmt: skip
_SPECIAL = re.compile(r"([\\`*{}\[\]<>|~$&]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))")
_AT_THE_START = re.compile(r"^(\d+(?=[.)](?:\s|$))|(?=[-+=#]))")  # of a list, a heading, a rule
_ADDRESS = re.compile(r"(?i)(?<=:)//|(?<=www)\.")  # what some forges turn into a link by themselves
_NO_NUMBER = re.compile(r"(?i)[+-]?(nan|inf(inity)?)")


def plain(text: object) -> str:
    """Return a text on as many lines as it has: what is unseen is named, what is very long is cut."""
    return visible(str(text))


def line(text: object) -> str:
    """Return a text on one line."""
    return " ".join(plain(text).split())


def cut(text: str, most: int) -> str:
    """Return a text of at most so many characters, which says so where it was longer."""
    return text if len(text) <= most else f"{text[: most - 20]} … (shortened)"[:most]


def markdown(text: object) -> str:
    """Return a text on one line that Markdown shows as it is."""
    escaped = _ADDRESS.sub(lambda found: f"\\{found[0]}", _SPECIAL.sub(r"\\\1", line(text)))
    return _AT_THE_START.sub(r"\1\\", escaped)


def fenced(lines: Iterable[str]) -> list[str]:
    """Return the lines of a block of code in Markdown, whose fence is longer than any in it."""
    inside = [part for text in lines for part in plain(text).split("\n")]
    longest = max((len(run) for text in inside for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}text", *inside, fence]


def cell(content: object) -> object:
    """Return a cell that no spreadsheet takes for a formula, and no reader for a number that is none."""
    if isinstance(content, int | float):
        return number(content)
    text = line(content)
    is_dangerous = str(content)[:1] in FORMULA or text[:1] in FORMULA or _NO_NUMBER.fullmatch(text)
    return f"'{text}" if text and is_dangerous else text


def number(points: float) -> float:
    """Return points, rounded; 0 for what no rubric can give, so that a fault never earns anything."""
    if not abs(points) <= LARGEST:  # nor for NaN
        return 0
    rounded = round(float(points), DIGITS)
    return int(rounded) if rounded == int(rounded) else rounded


def points(earned: float) -> str:
    """Return points in words: 2, 1.5, 0.33."""
    return f"{number(earned):.2f}".rstrip("0").rstrip(".")
