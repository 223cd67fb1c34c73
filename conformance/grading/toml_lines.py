"""Where the keys of a TOML text stand, which tomllib does not tell."""

import re
import tomllib
from collections import Counter
from dataclasses import dataclass, field

Path = tuple[str | int, ...]  # ("item", 2, "points"): of the third [[item]]

# Of a value only what can hide the end of its line: strings, comments, brackets; and the end itself.
_PART = re.compile(
    r'"""(?:\\.|[^\\])*?"""(?!")' r"|'''.*?'''(?!')" r'|"(?:\\.|[^"\\\n])*"' r"|'[^'\n]*'" r"|#[^\n]*" r"|[\[\]{}\n]",
    re.DOTALL,
)
_BLANK = re.compile(r"(?:\s|#[^\n]*)*")
_HEADER = re.compile(r"(\[\[?)((?:\"(?:\\.|[^\"\\\n])*\"|'[^'\n]*'|[^\]\"'])*)\]\]?")
_KEY = re.compile(r"(?:\"(?:\\.|[^\"\\\n])*\"|'[^'\n]*'|[^=\"'])*")


@dataclass(frozen=True)
class Lines:
    """The lines of a text's keys and tables."""

    text: str
    spans: dict[Path, tuple[int, int]] = field(default_factory=dict)  # from a key to behind its value, in characters

    def of(self, path: Path, word: str = "") -> int:
        """Return the line, from 1, of a key, or of the nearest table around it; of a word in its value if it is there.

        The first line where nothing is known of the path.
        """
        while path and path not in self.spans:
            path = path[:-1]
        start, end = self.spans.get(path, (0, 0))
        quoted = re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", self.text[start:end]) if word else None
        return self.text.count("\n", 0, start + quoted.start() if quoted else start) + 1


def lines_of(text: str) -> Lines:
    """Return where the keys and tables of a text stand that tomllib has read already."""
    found = Lines(text)
    tables: Counter[Path] = Counter()  # how many there are of each [[table]]
    table: Path = ()
    at = _end(_BLANK, text, 0)
    while at < len(text):
        if header := _HEADER.match(text, at):
            table = _placed(_keys(header[2]), tables, another=header[1] == "[[")
            end = header.end()
            found.spans.setdefault(_keys(header[2]), (at, end))  # of several [[tables]], the first
            found.spans.setdefault(table, (at, end))
        else:
            key = _end(_KEY, text, at)
            end = _end_of_value(text, key + 1)
            found.spans.setdefault((*table, *_keys(text[at:key])), (at, end))
        at = _end(_BLANK, text, end)
    return found


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    matched = pattern.match(text, at)
    return matched.end() if matched else at


def _keys(words: str) -> Path:
    """Return the parts of a key or of a table's name: ("conventions", "mask") of conventions.mask."""
    inside, path = tomllib.loads(f"{words.strip()} = 0"), []
    while isinstance(inside, dict):
        ((key, inside),) = inside.items()
        path.append(key)
    return tuple(path)


def _placed(keys: Path, tables: Counter[Path], another: bool) -> Path:
    """Return a table's path with the numbers of the [[tables]] in it, of which this is another one or is inside."""
    path: Path = ()
    for at, key in enumerate(keys, start=1):
        path = (*path, key)
        if another and at == len(keys):
            tables[path] += 1
        if path in tables:
            path = (*path, tables[path] - 1)
    return path


def _end_of_value(text: str, at: int) -> int:
    depth = 0
    for part in _PART.finditer(text, at):
        depth += (part[0] in ("[", "{")) - (part[0] in ("]", "}"))
        if part[0] == "\n" and depth <= 0:
            return part.start()
    return len(text)
