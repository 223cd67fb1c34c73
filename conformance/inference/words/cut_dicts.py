"""Weights that a function cuts out of a dict by the start of their keys: ``{k[len(p):]: w[k] … if k.startswith(p)}``.

What is cut out is a dict of the function's own, which nobody watches: it fails at the first key that is not there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

CUTS = r"\.(startswith|removeprefix)\("  # in code that may cut
PARTS = 9  # of a key


@dataclass
class Cuts:
    """What a function cut out of a dict, by the start of the keys, in the order in which it did."""

    starts: dict[str, None] = field(default_factory=dict)

    def names_of(self, missing: str) -> Iterator[str]:
        """Yield the whole keys that one may have that is missing in what was cut out, the last cut first."""
        yield from (start + missing for start in reversed(self.starts))


class Counted(str):
    """A key that is there for its number alone, by which layers are counted."""


class Probe(Counted):
    """A key that starts with whatever is asked for, and says so to ``cuts``; behind that start it is a key again."""

    cuts: Cuts
    path: str

    def __new__(cls, cuts: Cuts, path: str = "") -> "Probe":
        self = super().__new__(cls)
        self.cuts, self.path = cuts, path
        return self

    def startswith(self, start: Any, *_: Any) -> bool:
        """Note what the key is asked for, which holds."""
        for one in start if isinstance(start, tuple) else (start,):
            self.cuts.starts.pop(self.path + one, None)
            self.cuts.starts[self.path + one] = None
        return True

    def _behind(self) -> "Probe":
        return Probe(self.cuts, next(reversed(self.cuts.starts), self.path))

    def __getitem__(self, _: Any) -> "Probe":
        return self._behind()

    def removeprefix(self, start: str) -> "Probe":
        """Return the key behind its start."""
        self.startswith(start)
        return self._behind()

    def replace(self, start: str, *_: Any, **__: Any) -> "Probe":
        """Return the key behind its start, which is replaced by nothing."""
        return self.removeprefix(start)

    def split(self, *_: Any, **__: Any) -> list[Any]:
        """Return as many parts as may be counted, each the number of the first layer."""
        return ["0"] * PARTS


def learn(shapes: dict[str, tuple[str, ...]], names: Sequence[str]) -> str:
    """Return the first of some keys that a dict lacks; those before it did not help, and the last of all is dropped."""
    for name in names:
        if name not in shapes:
            return name
        if name == next(reversed(shapes)):
            shapes.pop(name)
    return ""
