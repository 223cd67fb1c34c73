"""What the arguments of a call get: by their names where these are unambiguous, else by trial, the likeliest first."""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any, TypeVar

from torch import nn

from attnconf.conformance.inference.trials.budgets import COMBINED, FILLINGS
from attnconf.conformance.inference.words.angle_names import is_table
from attnconf.conformance.inference.words.vocabulary import fitting, meanings, snake
from attnconf.conformance.source.signatures import parameters_of

BASE = 10000  # a default that says what it is, whatever its name
T = TypeVar("T")


def likeliest(
    choices: Sequence[Sequence[T]], cost: Callable[[tuple[int, ...]], Any] = lambda ranks: (sum(ranks), ranks)
) -> Iterator[tuple[T, ...]]:
    """Yield one choice for each argument, those first whose ranks cost least."""
    every = islice(product(*(range(len(c)) for c in choices)), COMBINED)
    for ranks in sorted(every, key=cost):
        yield tuple(c[i] for c, i in zip(choices, ranks, strict=True))


def written(parameters: Sequence[inspect.Parameter], texts: Sequence[str]) -> str:
    """Return the arguments of a call; "" leaves one at its default, and those behind it are named."""
    parts, named = [], False
    for p, text in zip(parameters, texts, strict=True):
        positional = p.kind is not p.KEYWORD_ONLY and (p.default is p.empty or p.kind is p.POSITIONAL_ONLY)
        named = named or not positional
        if text:
            parts.append(f"{p.name}={text}" if named else text)
    return ", ".join(parts)


def calls_of(thing: Any, choices: Callable[[inspect.Parameter, int], Sequence[str]]) -> Iterator[str]:
    """Yield the arguments of a call as text; ``choices``: what a parameter may get, by what it is and its place."""
    try:
        parameters = list(inspect.signature(thing).parameters.values())
    except (TypeError, ValueError):
        return
    parameters = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    for texts in islice(likeliest([choices(p, i) for i, p in enumerate(parameters)]), FILLINGS):
        if len({t for t in texts if t}) == sum(map(bool, texts)):  # nothing stands in two places
            yield written(parameters, texts)


# -- by a table of what there is


@dataclass(frozen=True)
class Input:
    """What an argument may get: the names that say so, and expressions, the likeliest first."""

    names: str
    texts: tuple[str, ...]
    free: bool = True  # also for an argument whose name says nothing
    optional: bool = False  # also where there is a default
    whole: str = ""  # what it gets as a whole number: where the name says nothing and the default is one


@dataclass(frozen=True)
class Filled:
    """The arguments of a call as text, and by what name of an input they are what."""

    text: str
    roles: frozenset[str]


def arguments_of(thing: Any) -> list[inspect.Parameter]:
    """Return the parameters of a call of a module, of another callable object, or of a function."""
    target = thing.forward if isinstance(thing, nn.Module) else thing
    return [p for p in parameters_of(target) if p.kind is not p.VAR_KEYWORD]


def fillings(parameters: Sequence[inspect.Parameter], inputs: Mapping[str, Input]) -> Iterator[Filled]:
    """Yield ways to fill the parameters of a call."""
    pair = {"q", "k"} <= {p.name for p in parameters}  # queries and keys: these letters say what they are
    for chosen in islice(likeliest([_choices(p, inputs, pair) for p in parameters]), FILLINGS):
        roles = frozenset(role for text, role in chosen if text)
        yield Filled(written(parameters, [text for text, _ in chosen]), roles)


def _choices(p: inspect.Parameter, inputs: Mapping[str, Input], pair: bool = False) -> list[tuple[str, str]]:
    """Return (expression, input) for a parameter; ("", "") leaves it at its default, or out."""
    plain = snake(p.name).strip("_")
    said = fitting(p.name, {name: i.names for name, i in inputs.items() if i.names})
    if "positions" in said:
        said = [name for name in said if name != "length"]
    if pair and "key" in said:
        said = ["key"]
    if p.kind is p.VAR_POSITIONAL:
        first = next(iter(inputs))
        return [(inputs[first].texts[0], first), ("", "")]
    if p.default is not p.empty:
        return _optional(p, said, inputs)
    if "positions" in said and "length" in inputs:  # they, or how many
        said = ["length", *said] if p.annotation in (int, "int") else [*said, "length"]
    if re.search(r"Tensor|ndarray|Array", str(p.annotation)):  # a window is no number of tokens then
        said = [name for name in said if name != "length"]
    known = [(text, name) for name in said for text in inputs[name].texts]
    certain = len(plain) > 1 or (pair and plain in ("q", "k"))
    if certain and known and said != ["length"]:
        return known
    if is_table(plain):
        return known or [("None", "")]
    # a letter says little, and the name of a length may be that of what has it
    return [*known, *((t, n) for n, i in inputs.items() if i.free and n not in said for t in i.texts)] or [("None", "")]


def _optional(p: inspect.Parameter, said: list[str], inputs: Mapping[str, Input]) -> list[tuple[str, str]]:
    number = isinstance(p.default, int | float) and not isinstance(p.default, bool)
    if number and p.default == BASE and "base" in inputs and not ("length" in said and isinstance(p.default, int)):
        return [(inputs["base"].texts[0], "base")]
    if number:
        said = [name for name in said if name != "positions"]  # a number is no positions, but where they begin
        if type(p.default) is int and p.default > 1 and not said and not meanings(p.name):
            return [("", ""), *((i.whole, name) for name, i in inputs.items() if i.whole)]
    given = [(text, name) for name in said if inputs[name].optional for text in inputs[name].texts]
    if isinstance(p.default, bool):
        given = [(text, name) for text, name in given if name in ("bidirectional", "one_way", "causal")]
    return [*given, ("", "")]
