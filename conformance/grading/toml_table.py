"""A table of a rubric, read key by key; whatever is wrong with one is told with its file, line and nearest name."""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from attnconf.conformance.grading.rubric import RubricError
from attnconf.conformance.grading.toml_lines import Lines, Path
from attnconf.spec.nearest import hint


def there_are(names: Iterable[str]) -> str:
    """Return the end of a message on a name that none of these is near to."""
    return f"; there are {', '.join(names)}"


@dataclass(frozen=True)
class Table:
    """A table: its content, and where it stands."""

    content: Mapping[str, Any]
    source: str
    lines: Lines
    path: Path = ()

    def wrong(self, words: str, key: str = "", word: str = "") -> RubricError:
        """Return the error on a key, or on the table itself; ``word``: what of the key's value it is about."""
        line = self.lines.of((*self.path, key) if key else self.path, word)
        return RubricError(f"{self.source}:{line}: {words}")

    def only(self, keys: Collection[str], of: str) -> None:
        """Raise RubricError for a key that is none of these; ``of``: what has these keys, in words."""
        for key in self.content:
            if key not in keys:
                raise self.wrong(f"unknown key {key!r} of {of}{hint(key, keys) or there_are(keys)}", key)

    def text(self, key: str, default: str | None = None) -> str:
        """Return a text of one line; without a default it has to be there, and to say something."""
        value = self._there(key, "a text", default)
        if not isinstance(value, str):
            raise self._mistyped(key, "a text")
        if key in self.content and (not value.strip() or not value.isprintable()):
            raise self.wrong(f"{key} = {value!r}: want a text of one line", key)
        return value

    def one_of(self, key: str, choices: Collection[str], default: str) -> str:
        """Return one of the choices."""
        value = self.text(key, default)
        if value not in choices:
            raise self.wrong(f"{key} = {value!r}: want one of {', '.join(choices)}{hint(value, choices)}", key)
        return value

    def flag(self, key: str) -> bool:
        """Return true or false, which is the default."""
        value = self.content.get(key, False)
        if not isinstance(value, bool):
            raise self._mistyped(key, "true or false")
        return value

    def number(self, key: str, least: float, most: float, default: float | None = None) -> float:
        """Return a finite number within these bounds; without a default it has to be there."""
        value = self._there(key, "a number", default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._mistyped(key, "a number")
        if not (math.isfinite(value) and least <= value <= most):
            raise self.wrong(f"{key} = {value}: want a number from {least:g} to {most:g}", key)
        return float(value)

    def words(self, key: str) -> tuple[str, ...]:
        """Return a list of texts, none of them twice; () where there is none. One text is a list of one."""
        value = self.content.get(key, [])
        value = [value] if isinstance(value, str) else value
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            raise self._mistyped(key, "a list of texts")
        if key in self.content and not value:
            raise self.wrong(f"{key} = []: want at least one", key)
        if twice := next((word for word in value if value.count(word) > 1), None):
            raise self.wrong(f"{key} has {twice!r} twice", key, twice)
        return tuple(value)

    def table(self, key: str) -> "Table":
        """Return a table inside; an empty one where there is none."""
        value = self.content.get(key, {})
        if not isinstance(value, dict):
            raise self._mistyped(key, f"a table, [{key}]")
        return Table(value, self.source, self.lines, (*self.path, key))

    def tables(self, key: str) -> list["Table"]:
        """Return the tables [[key]]; none where there are none."""
        value = self.content.get(key, [])
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            raise self._mistyped(key, f"tables, each under [[{key}]]")
        return [Table(one, self.source, self.lines, (*self.path, key, at)) for at, one in enumerate(value)]

    def _there(self, key: str, want: str, default: Any) -> Any:
        if key not in self.content and default is None:
            raise self.wrong(f"{key} is missing: want {want}")
        return self.content.get(key, default)

    def _mistyped(self, key: str, want: str) -> RubricError:
        shown = f"{self.content[key]!r}"
        return self.wrong(f"{key} = {shown if len(shown) <= 40 else shown[:39] + '…'}: want {want}", key)
