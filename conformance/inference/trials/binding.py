"""What an inferred binding is, and the adapter that is written from it."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any

from attnconf.conformance.engine.request import GUESS
from attnconf.conformance.inference.trials.trial import Draft

CALLED_AS = "__attnconf_called_as__"  # of a method that is taken for a function: how it is called


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
        return f"theirs.{getattr(self.thing, CALLED_AS, self.name)}"

    @property
    def lent_by(self) -> str:
        """The function of `attnconf.adapters.generated` that lends it to torch, behind its module; "" for none."""
        return str(vars(self.module).get("__lent_by__", ""))

    @property
    def in_arrays(self) -> bool:
        """Whether it is handed NumPy's arrays, or a library's."""
        return bool(self.lent_by)


@dataclass(frozen=True)
class Bound:
    """A binding: its text, what it declares, and what certified it."""

    place: Place
    draft: Draft
    profile: str | None
    certified: str | None  # "reference", the id of a known mistake, or None where nothing did
    told: tuple[str, ...]
    masks: Mapping[str, str] = field(default_factory=dict)  # what the values of its arguments for masks mean
    doubt: str = ""  # why what certified it is not enough
    open_ends: tuple[str, ...] = ()  # what is set aside, or has no effect, and no requirement is about
    broken: tuple[str, ...] = ()  # arguments that do not do what their names promise, in words
    untried: tuple[str, ...] = ()  # options that were left at their defaults
    parts: tuple[str, ...] = ()  # classes that it is made of, and that are not judged apart: "Head@attention"

    @property
    def established(self) -> bool:
        return self.certified is not None and not self.doubt

    @property
    def calling(self) -> tuple[str, ...]:
        """What is said of how it is called, besides how."""
        return (vars(self.place.module)["__told__"],) if self.place.in_arrays else ()

    def called_through(self, wrapped: str, told: str) -> "Bound":
        """Return the binding whose call is wrapped, in a line of text; as it is where its text calls otherwise."""
        body, forward = self.draft.body, "\n\n    def "
        if "    call = bind(module, " not in body or forward not in body:
            return self
        body = body.replace(forward, f"\n    call = {wrapped}{forward}", 1)
        return replace(self, draft=replace(self.draft, body=body), told=(*self.told, told))

    @property
    def standing(self) -> str:
        """How far the binding is to be believed, in words."""
        if self.certified is None:
            return GUESS
        alike = "the textbook" if self.certified == "reference" else "a known mistake"
        return f"equal to {alike} on fresh weights" + (f", but {self.doubt}" if self.doubt else "")


@dataclass(frozen=True)
class Refusal:
    """Why something cannot be bound as a component, with what was tried."""

    reason: str
    untried: bool = False  # it does not even take the inputs: what stands against another component says more


_ERROR = re.compile(r"(.*?): ((?:\w*(?:Error|Exception|Exit|Warning)|no output of shape)\b.*)", re.DOTALL)
_SHOWN, _LONG = 3, 160  # reasons, and characters of each


def refused(failures: Sequence[str], otherwise: str) -> Refusal:
    """Return the refusal that says what came of what was tried, each error once; ``otherwise`` where nothing was."""
    tried: dict[str, list[str]] = {}
    for failure in failures:
        found = _ERROR.fullmatch(failure)
        what, error = (found[1], found[2]) if found else ("", failure)
        tried.setdefault(shortened(error), []).append(re.sub(r"\b(theirs|config)\.", "", what))
    return Refusal("; ".join(_said(error, ways) for error, ways in list(tried.items())[:_SHOWN]) or otherwise)


def shortened(words: str) -> str:
    """Return the beginning of long words, and the line that they end with."""
    if len(words) <= _LONG:
        return words
    place = re.search(r" \([^()]*\d\)$", words)
    return words[:_LONG].rsplit(" ", 1)[0] + " …" + (place[0] if place else "")


def _said(error: str, ways: Sequence[str]) -> str:
    """Return an error with the simplest thing that it came of, and how many others."""
    ways = list(dict.fromkeys(way for way in ways if way))
    if not ways:
        return error
    shown = shortened(min(ways[:8], key=len))
    more = f" and in {len(ways) - 1} other way{'s' if len(ways) > 2 else ''}" if len(ways) > 1 else ""
    return f"{error}, {shown if shown.startswith('called') else f'built as {shown}'}{more}"


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
