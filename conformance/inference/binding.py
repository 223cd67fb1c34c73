"""What an inferred binding is, and the adapter that is written from it."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from attnconf.conformance.inference.trial import Draft


@dataclass(frozen=True)
class Place:
    """A class or function of the user's, and where it stands."""

    name: str
    thing: Any
    module: ModuleType
    part: Callable[[str, Any], Sequence[str]] = lambda name, parameter: ()  # expressions for parts that it wants
    component: str = ""  # what it is to be bound as
    prescribed: Mapping[str, str] = field(default_factory=dict)  # conventions that it is held to

    @property
    def name_in_text(self) -> str:
        return f"theirs.{self.name}"


@dataclass(frozen=True)
class Bound:
    """A binding: its text, what it declares, and what certified it."""

    place: Place
    draft: Draft
    profile: str | None
    certified: str | None  # "reference", the id of a known mistake, or None where nothing did
    told: tuple[str, ...]


@dataclass(frozen=True)
class Refusal:
    """Why something cannot be bound as a component, with what was tried."""

    reason: str


@dataclass
class Attempts:
    """What was tried of a class, and failed; the most telling first."""

    failures: list[str] = field(default_factory=list)
    often: Counter[str] = field(default_factory=Counter)

    def say(self, what: str) -> None:
        self.often[what] += 1
        if what not in self.failures:
            self.failures.append(what)

    def hopeless(self, beginning: str) -> bool:
        """Return whether the same call failed in the same words, however the class was built."""
        return any(count > 3 for what, count in self.often.items() if what.startswith(beginning))
