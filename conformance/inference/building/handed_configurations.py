"""The configuration that functions of one file are handed: its entries, and how one with others is written.

The function that makes the weights and the one that computes with them get the same, so it is asked what both read.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

from attnconf.conformance.inference.building.building import Meanings
from attnconf.conformance.inference.building.configurations import entry_default, is_configuration
from attnconf.conformance.inference.trials.calling import parameters
from attnconf.conformance.inference.words.asked import asked_of
from attnconf.conformance.inference.words.records import class_named, entries_of
from attnconf.conformance.inference.words.vocabulary import meanings

Write = Callable[[Mapping[str, str]], str]
# What an entry that is no whole number may mean, by the type of its value.
FRACTIONS, FLAGS, NAMED = ("dropout", "eps", "base", "head_dim"), ("bias", "causal", "norm_first"), ("dropout", "eps")


@dataclass(frozen=True)
class Handed:
    """A configuration: the parameter of each function that gets it, its whole numbers, and how it is written.

    A whole number without a value of its own is None.
    """

    names: Mapping[str, str]  # of a function -> of its parameter
    numbers: Mapping[str, int | None]
    write: Write


def handed(functions: Sequence[FunctionType], weights: str, module: ModuleType, table: Meanings) -> Handed | None:
    """Return the configuration that functions of a file are handed; None where they are handed none.

    ``weights``: what is called as a configuration may be, and is none.
    """
    given = ((f, p) for f in functions for p in parameters(f) if p.name != weights)
    wanted = {f.__name__: p for f, p in given if is_configuration(p, module, f) or _asked_as_one(f, p, module)}
    if not wanted:
        return None
    asked: dict[str, Any] = {}
    by_item = False
    for function in functions:
        if function.__name__ in wanted:
            found = asked_of(function, wanted[function.__name__].name)
            asked |= {name: value for name, value in found.entries.items() if value is not None or name not in asked}
            by_item = by_item or found.by_item
    entries, write = next(
        _there(list(wanted.values()), asked, module, table), (asked, _of_what_is_asked(asked, by_item, module, table))
    )
    numbers = {name: value for name, value in entries.items() if _may_be_a_size(name, value, table)}
    return Handed({name: p.name for name, p in wanted.items()}, numbers, write) if entries else None


def _asked_as_one(function: FunctionType, p: inspect.Parameter, module: ModuleType) -> bool:
    """Return whether all that is asked of a parameter are the entries of a class of the file that holds sizes."""
    asked = asked_of(function, p.name).entries.keys()
    return bool(asked) and any(asked <= _entries(kind).keys() for kind in _classes(module))


def _classes(module: ModuleType) -> list[type]:
    return [v for v in vars(module).values() if isinstance(v, type) and v.__module__ == module.__name__]


def _may_be_a_size(name: str, value: Any, table: Meanings) -> bool:
    if value is not None:
        return type(value) is int and value > 1
    known = [m for m in meanings(name) if m in table]
    return len(name) == 1 or not set(known) & {*FRACTIONS[:3], *FLAGS}  # a letter says little


def _there(
    wanted: Sequence[inspect.Parameter], asked: Mapping[str, Any], module: ModuleType, table: Meanings
) -> Iterator[tuple[dict[str, Any], Write]]:
    """Yield the entries of what the file has for a configuration, first what is named as one, and how it is written."""
    kinds = [kind for p in wanted if (kind := class_named(p.annotation, module)) is not None]
    defaults = [p.default for p in wanted if p.default is not p.empty]
    kinds += [type(value) for value in defaults if not isinstance(value, dict | SimpleNamespace)]
    for kind in (*kinds, *_classes(module)):
        entries = _entries(kind)
        if entries and asked.keys() <= entries.keys() | set(dir(kind)):
            yield entries, _of_a_class(kind, entries, table)
    for name, value in vars(module).items():
        there = value if isinstance(value, dict) else vars(value) if isinstance(value, SimpleNamespace) else {}
        if there and all(isinstance(key, str) for key in there) and asked.keys() <= there.keys():
            yield dict(there), _of_an_object(f"theirs.{name}", value, there, table)


def _entries(kind: type) -> dict[str, Any]:
    """Return the entries of a dataclass or of a named tuple, None for one without a default; none of anything else."""
    return {entry.name: None if entry.default is MISSING else entry.default for entry in entries_of(kind)}


def _others(entries: Mapping[str, Any], table: Meanings) -> dict[str, str]:
    """Return expressions for the entries that are no sizes, where name and value agree on what they are."""
    found = {}
    for name, value in entries.items():
        allowed = {float: FRACTIONS, bool: FLAGS, type(None): NAMED}.get(type(value), ())
        meaning = next((m for m in meanings(name) if m in table and m in allowed and table[m]), "")
        if meaning and not (type(value) is float and meaning == "base" and value <= 1):
            found[name] = table[meaning][0]
    return found


def _of_a_class(kind: type, entries: Mapping[str, Any], table: Meanings) -> Write:
    def write(texts: Mapping[str, str]) -> str:
        words = _others(entries, table) | dict(texts)
        return f"theirs.{kind.__name__}({', '.join(f'{n}={words[n]}' for n in entries if n in words)})"

    return write


def _of_an_object(called: str, value: Any, entries: Mapping[str, Any], table: Meanings) -> Write:
    def write(texts: Mapping[str, str]) -> str:
        words = ", ".join(f'"{n}": {text}' for n, text in (_others(entries, table) | dict(texts)).items())
        if isinstance(value, dict):
            return f"{{**{called}, {words}}}"
        return f"SimpleNamespace(**{{**vars({called}), {words}}})"

    return write


def _of_what_is_asked(asked: Mapping[str, Any], by_item: bool, module: ModuleType, table: Meanings) -> Write:
    def write(texts: Mapping[str, str]) -> str:
        default = {n: repr(v) if v is not None else entry_default(n, module) for n, v in asked.items()}
        words = default | _others(asked, table) | dict(texts)
        if by_item:
            return "{" + ", ".join(f'"{n}": {text}' for n, text in words.items()) + "}"
        return f"SimpleNamespace({', '.join(f'{n}={text}' for n, text in words.items())})"

    return write
