"""Conventions that a course or a user prescribes: ``--convention mask=true-keeps``."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from attnconf.adapters.contract import CONVENTIONS
from attnconf.conformance.engine.request import Implementation
from attnconf.spec.nearest import hint

T = TypeVar("T")


class PrescriptionError(ValueError):
    """An unknown convention or choice; the message lists the known ones."""


def parse(words: Sequence[str]) -> dict[str, str]:
    """Return the prescribed choices by convention, from words ``name=choice``. Raises PrescriptionError."""
    choices = {}
    for word in words:
        name, equals, choice = word.partition("=")
        if not equals:
            raise PrescriptionError(f"--convention {word}: want NAME=CHOICE, as in mask=true-keeps")
        _known(word, "convention", name, CONVENTIONS)
        _known(word, f"choice of {name}", choice, CONVENTIONS[name])
        choices[name] = choice
    return choices


def _known(word: str, kind: str, name: str, there: Iterable[str]) -> None:
    names = list(there)
    if name not in names:
        there_are = f"there are {', '.join(names)}{hint(name, names)}"
        raise PrescriptionError(f"--convention {word}: no {kind} {name!r}: {there_are}")


# The meaning of a mask's values, in words for a message.
SAYS = {
    "true-keeps": "True = may attend", "true-drops": "True = hidden", "1-keeps": "1 = may attend",
    "1-drops": "1 = hidden", "additive": "it is added to the scores", "lengths": "it says how many keys there are",
}  # fmt: skip
_OPPOSITE = ({"true-keeps", "true-drops"}, {"1-keeps", "1-drops"})


def of_masks(wanted: str, masks: Mapping[str, str], where: str) -> list[str]:
    """Return a line for each mask argument with another meaning of its values than the prescribed one.

    wanted   the prescribed meaning: "true-keeps"
    masks    meaning of the values by argument: {"padding_mask": "true-drops"}
    where    the place in the file of the mask's use, or ""
    """
    if not masks:
        return [f"prescribed   mask={wanted}: without effect: no argument was found that takes a mask"]
    others = [(name, kind) for name, kind in masks.items() if kind != wanted]
    does = {name: "the opposite" if {kind, wanted} in _OPPOSITE else "something else" for name, kind in others}
    at = f"; {where}" if where else ""
    return [f"prescribed   mask={wanted}: {name} does {does[name]}, {SAYS[kind]}{at}" for name, kind in others]


def _of_others(implementation: Implementation, choices: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each convention with another choice than the prescribed one, and for an adapter's masks."""
    for name, choice in choices.items():
        declared = [implementation.declared(component) for component in implementation.components]
        others = {own[name] for own in declared if name in own} - {choice}
        for other in sorted(others) if name != "mask" else ():
            yield f"prescribed   {name}={choice}: it is {other}"
        if name == "mask" and implementation.binding is None:
            yield f"prescribed   mask={choice}: without effect: an adapter is handed booleans, True = may attend"


def held_to(implementation: T, choices: Mapping[str, str]) -> T:
    """Return the implementation with the prescribed choices in place of its declared ones."""
    if not choices or not isinstance(implementation, Implementation):
        return implementation
    notes = tuple(_of_others(implementation, choices))
    implementation = replace(implementation, notes=(*implementation.notes, *notes))
    if not any("mask" in implementation.declared(component) for component in implementation.components):
        choices = {name: choice for name, choice in choices.items() if name != "mask"}
    return replace(implementation, declares=instead(implementation.declares, choices))


def instead(declares: Mapping[str, Any], choices: Mapping[str, str]) -> dict[str, Any]:
    """Return declarations with these choices in place of their own, also under the names of components."""
    own = {k: {**v, **choices} if isinstance(v, Mapping) else v for k, v in declares.items()}
    return {**own, **choices}
