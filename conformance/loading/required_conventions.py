"""Conventions that a course, or a user, prescribes: ``--convention mask=true-keeps``."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from attnconf.adapters.contract import CONVENTIONS
from attnconf.conformance.engine.request import Implementation
from attnconf.spec.nearest import hint

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
        there_are = f"there are {', '.join(names)}{hint(name, names)}"
        raise PrescriptionError(f"--convention {word}: no {kind} {name!r}: {there_are}")


# What masks mean, to be said of an argument.
SAYS = {
    "true-keeps": "True = may attend", "true-drops": "True = hidden", "1-keeps": "1 = may attend",
    "1-drops": "1 = hidden", "additive": "it is added to the scores", "lengths": "it says how many keys there are",
}  # fmt: skip
_OPPOSITE = ({"true-keeps", "true-drops"}, {"1-keeps", "1-drops"})


def of_masks(wanted: str, masks: Mapping[str, str], where: str) -> list[str]:
    """Return what is to be said of the arguments for masks of something that takes masks.

    ``masks``: what their values mean. ``where``: the line that hides, or nothing.
    """
    if not masks:
        return [f"prescribed   mask={wanted}: nothing is held to it: no argument was found that takes a mask"]
    others = [(name, kind) for name, kind in masks.items() if kind != wanted]
    does = {name: "the opposite" if {kind, wanted} in _OPPOSITE else "something else" for name, kind in others}
    at = f"; {where}" if where else ""
    return [f"prescribed   mask={wanted}: {name} does {does[name]}, {SAYS[kind]}{at}" for name, kind in others]


def _of_others(implementation: Implementation, choices: Mapping[str, str]) -> Iterator[str]:
    """Yield what is to be said of conventions that were found to be otherwise, and of masks that an adapter takes."""
    for name, choice in choices.items():
        declared = [implementation.declared(component) for component in implementation.components]
        others = {own[name] for own in declared if name in own} - {choice}
        for other in sorted(others) if name != "mask" else ():
            yield f"prescribed   {name}={choice}: it is {other}"
        if name == "mask" and implementation.binding == "adapter":
            yield f"prescribed   mask={choice}: nothing is held to it: an adapter is handed booleans, True = may attend"


def held_to(implementation: T, choices: Mapping[str, str]) -> T:
    """Return an implementation that is judged by what is prescribed, whatever it declares."""
    if not choices or not isinstance(implementation, Implementation):
        return implementation
    said = tuple(_of_others(implementation, choices))
    implementation = replace(implementation, told=(*implementation.told, *said))
    if not any("mask" in implementation.declared(component) for component in implementation.components):
        choices = {name: choice for name, choice in choices.items() if name != "mask"}
    return replace(implementation, declares=instead(implementation.declares, choices))


def instead(declares: Mapping[str, Any], choices: Mapping[str, str]) -> dict[str, Any]:
    """Return what is declared, with choices instead of it, under the names of components too."""
    own = {k: {**v, **choices} if isinstance(v, Mapping) else v for k, v in declares.items()}
    return {**own, **choices}
