"""Sizes that a class reads from its module: set there before it is built; and what else its code reads."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from types import ModuleType
from typing import Any

from attnconf.conformance.inference.building.building import SIZES, Meanings
from attnconf.conformance.inference.words.vocabulary import meanings
from attnconf.conformance.source.source_text import code_names, functions_of, reached

FLAGS = {"causal", "bias", "norm_first", "affine"}
Set = tuple[tuple[str, ...], frozenset[str]]  # statements that set sizes in globals, and what these mean


def sizes_of_module(thing: Any, table: Meanings, module: ModuleType) -> Iterator[Set]:
    """Yield statements that set the sizes that the code of ``thing`` reads from its module, and what they say.

    Sizes whose names say nothing may be any that is left; heads and their width make up the model where they are told.
    """
    known: dict[str, str] = {}
    unknown: list[str] = []
    read = {name: vars(module).get(name) for name in sorted(names_read(thing))}
    for name, value in read.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        meaning = next((m for m in meanings(name) if m in table and _may_be_set(m, table)), None)
        if meaning:
            known[name] = meaning
        elif not meanings(name) and isinstance(value, int):
            unknown.append(name)
    yield _set(known, table)
    left = [m for m in (*SIZES, "head_dim") if m in table and m not in known.values()]
    for told in permutations(left, len(unknown)) if 0 < len(unknown) <= 3 else ():
        guess = {**known, **dict(zip(unknown, told, strict=True))}
        values = {meaning: read[name] for name, meaning in guess.items()}
        parts = [values.get(m) for m in ("embed", "heads", "head_dim")]
        if None in parts or parts[0] == parts[1] * parts[2]:  # type: ignore[operator]  # none of them is None
            yield _set(guess, table)


def afresh(every: Sequence[Set], module: ModuleType) -> Iterator[Set]:
    """Yield statements, each with the module as it was before the others were run, and leave it so."""
    names = {statement.split(" = ")[0].removeprefix("theirs.") for before, _ in every for statement in before}
    kept = {name: getattr(module, name) for name in names}
    try:
        for each in every:
            yield each
            _set_again(module, kept)
    finally:
        _set_again(module, kept)


def _set_again(module: ModuleType, kept: Mapping[str, Any]) -> None:
    for name, value in kept.items():
        setattr(module, name, value)


def _set(told: Mapping[str, str], table: Meanings) -> Set:
    statements = tuple(f"theirs.{name} = {table[meaning][0]}" for name, meaning in told.items())
    return statements, frozenset(told.values())


def _may_be_set(meaning: str, table: Meanings) -> bool:
    """Return whether a global that holds a number may be given this meaning.

    It is no flag (-inf may be called "masked"), and a longest length only where a configuration says it.
    """
    if meaning in FLAGS:
        return False
    return meaning != "max_len" or any("config." in text for text in table[meaning])


def names_read(thing: Any) -> set[str]:
    """Return the global names that a class or function reads, and those that what it names reads."""
    return {name for function in reached(thing) for name in code_names(function.__code__)}


def integers_of(thing: Any) -> list[int]:
    """Return the small integers that the code of a class knows, from its module or written into it."""
    found = {n for function in functions_of(thing) for n in function.__code__.co_consts if type(n) is int}
    for function in functions_of(thing)[:1]:
        found |= {v for name in names_read(thing) if type(v := function.__globals__.get(name)) is int}
    return sorted(n for n in found if 3 < n <= 64)
