"""Conventions that a course, or a user, prescribes: ``--convention mask=true-keeps``."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from attnconf.adapters.contract import CONVENTIONS
from attnconf.conformance.door import Implementation

T = TypeVar("T")


class PrescriptionError(ValueError):
    """No such convention, or no such choice; the message says which there are."""


def parse(words: Sequence[str]) -> dict[str, str]:
    """Return the choices that are prescribed, each written ``name=choice``. Raises PrescriptionError."""
    found = {}
    for word in words:
        name, equals, choice = word.partition("=")
        if not equals:
            raise PrescriptionError(f"--convention {word}: want NAME=CHOICE, as in mask=true-keeps")
        _known(word, "convention", name, CONVENTIONS)
        _known(word, f"choice of {name}", choice, CONVENTIONS[name])
        found[name] = choice
    return found


def _known(word: str, kind: str, name: str, there: Iterable[str]) -> None:
    names = list(there)
    if name not in names:
        close = difflib.get_close_matches(name, names, n=1)
        nearest = f"; nearest: {close[0]}" if close else ""
        raise PrescriptionError(f"--convention {word}: no {kind} {name!r}: there are {', '.join(names)}{nearest}")


def held_to(implementation: T, choices: Mapping[str, str]) -> T:
    """Return an implementation that is judged by what is prescribed, whatever it declares."""
    if not choices or not isinstance(implementation, Implementation):
        return implementation
    own = {k: {**v, **choices} if isinstance(v, Mapping) else v for k, v in implementation.declares.items()}
    return replace(implementation, declares={**own, **choices})
