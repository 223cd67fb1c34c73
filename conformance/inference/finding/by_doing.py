"""Methods by what they take and give, whatever they are called: that cut a text into pieces, or make a text of ids."""

import copy
import inspect
import re
from collections.abc import Iterator, Sequence
from types import FunctionType
from typing import Any

from torch import nn

from attnconf.conformance.inference.trials.probing import Failed, attempt
from attnconf.conformance.source.signatures import parameters_of


def own_methods(thing: Any) -> dict[str, FunctionType]:
    """Return the methods of a class that others may call, those of its parents first; none that a library has."""
    kinds = reversed(thing.__mro__[:-1]) if isinstance(thing, type) else ()
    found = {name: f for kind in kinds for name, f in vars(kind).items() if isinstance(f, FunctionType)}
    home = getattr(thing, "__module__", None)
    return {name: f for name, f in found.items() if not name.startswith("_") and f.__module__ == home}


def given(function: FunctionType) -> int:
    """Return how many arguments a method has to be given besides its object."""
    return sum(p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters_of(function)[1:])


def of_one(thing: Any) -> list[str]:
    """Return the methods of a class that are given one thing, by name."""
    return [name for name, function in own_methods(thing).items() if given(function) == 1]


def that_cut(made: Any, text: str) -> list[str]:
    """Return the methods of an object that make pieces of a text, those first that give their numbers."""
    got = {name: pieces for name, pieces in _called(made, text) if _of(pieces, int) or _of(pieces, str)}
    return sorted(got, key=lambda name: not _of(got[name], int))


def that_join(made: Any, ids: Sequence[int]) -> list[str]:
    """Return the methods of an object that make a text of ids."""
    return [name for name, text in _called(made, list(ids)) if isinstance(text, str)]


def numbers_of(made: Any, method: str, text: str) -> list[int]:
    """Return the numbers that a method makes of a text; none where it gives anything else."""
    got = [pieces for name, pieces in _called(made, text) if name == method]
    return list(got[0]) if got and _of(got[0], int) else []


def _called(made: Any, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the methods of an object that can be given a value alone, and what each gives: of a copy of the object."""
    for name in of_one(type(made)):
        try:
            yield name, attempt(lambda name=name: getattr(copy.deepcopy(made), name)(value))  # type: ignore[misc]
        except Failed:
            continue


def _of(pieces: Any, kind: type) -> bool:
    return isinstance(pieces, list | tuple) and bool(pieces) and all(isinstance(x, kind) for x in pieces)


def is_count(p: inspect.Parameter) -> bool:
    """Return whether a parameter has a number as its default."""
    return isinstance(p.default, int) and not isinstance(p.default, bool)


def is_given_merges(thing: Any) -> bool:
    """Return whether a class is built with merges of pieces of texts, by the name of a parameter, and is no module."""
    if not isinstance(thing, type) or issubclass(thing, nn.Module):
        return False
    return any(re.fullmatch(r"(bpe_?)?merges?(_?rules|_?list)?", p.name) for p in parameters_of(thing))
