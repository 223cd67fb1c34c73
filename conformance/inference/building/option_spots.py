"""Options of attention in a constructor or a configuration, by their names: how they are found, and let pass.

An argument or entry of such a name gets what is asked for, and lets everything pass where nothing is. A default need
not: a cap of 50 is one, so that what is built by its defaults alone is not what the formula says.
"""

import ast
import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from types import ModuleType
from typing import Any

from attnconf.conformance.inference.building.building import Construction
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.words.records import is_named_tuple
from attnconf.conformance.inference.words.vocabulary import snake
from attnconf.conformance.source.signatures import parameters_of
from attnconf.conformance.source.source_text import only_others_have
from attnconf.conformance.source.syntax import expression_of

QUIET = (None, 0, -1)  # defaults that let everything pass
DICT = "{}"


@dataclass(frozen=True)
class Option:
    """What an argument or entry is called, the entry of our configuration, and what it gets."""

    names: str
    entry: str
    declares: tuple[str, str]
    values: tuple[str, ...]
    off: tuple[str, ...]  # what lets everything pass, where its own default does not
    asked: Any
    requirement: str = ""  # of a layer: what a mistake has to break, if it is one in this


@dataclass(frozen=True)
class Given:
    """An option as a construction has it: its name, what it is, and its text where nothing is asked for."""

    name: str
    option: Option
    off: str

    def text(self, value: str) -> str:
        return f"({self.off} if config.{self.option.entry} is None else {value})"


@dataclass(frozen=True)
class Spot:
    """An argument or an entry: its name, whose it is, "" for the class itself, and what it is where nothing is said."""

    name: str
    owner: str
    default: Any

    @property
    def passes(self) -> bool:
        """Whether it lets everything pass where nothing is said."""
        plain = self.default is None or type(self.default) in (int, float)
        return plain and self.default in QUIET


def with_options_off(made: Construction, found: Sequence[tuple[Spot, Option]]) -> Iterator[Construction]:
    """Yield the construction with its options such that they let everything pass, and as it is; the likeliest first."""
    loud = any(not spot.passes for spot, _ in found)
    for turn in range(max((len(o.off) for _, o in found), default=0) if loud else min(1, len(found))):
        one = made
        for spot, option in found:
            off = repr(spot.default) if spot.passes else option.off[min(turn, len(option.off) - 1)]
            one = with_value(one, spot.name, Given(spot.name, option, off).text(option.values[0]), spot.owner)
        yield one
    yield made


def options_of(place: Place, made: Construction, options: Sequence[Option]) -> Iterator[tuple[Spot, Option]]:
    """Yield what may be options of attention, by their names."""
    yield from ((spot, o) for spot in every_spot(place, made) for o in options if _is_called(place, spot, o.names))


def spots_of(place: Place, made: Construction, names: str) -> Iterator[Spot]:
    """Yield the arguments and entries of these names."""
    yield from (spot for spot in every_spot(place, made) if _is_called(place, spot, names))


def _is_called(place: Place, spot: Spot, names: str) -> bool:
    """Return whether something has one of these names, and is no entry that only other code of the file reads."""
    if isinstance(spot.default, str | bool) or not re.fullmatch(names, snake(spot.name)):
        return False
    reading = rf"(\.|[\[(][\"']){spot.name}\b"
    return not (spot.owner and only_others_have(reading, place.thing, place.module))


def every_spot(place: Place, made: Construction) -> Iterator[Spot]:
    """Yield the arguments of a class, or those a function may go without, and entries of configurations, each once."""
    call = expression_of(made.text)
    if not isinstance(call, ast.Call) or not (isinstance(place.thing, type) or ast.unparse(call.func) == "functional"):
        return
    whole = isinstance(place.thing, type)
    spots = [Spot(p.name, "", p.default) for p in parameters_of(place.thing) if whole or _may_be_left_out(p)]
    for node in ast.walk(call):
        spots += _spots(node, place.module)
    yield from {(spot.name, spot.owner): spot for spot in spots}.values()


def _may_be_left_out(p: inspect.Parameter) -> bool:
    return p.default is None or type(p.default) in (int, float)


def _spots(node: ast.AST, module: ModuleType) -> Iterator[Spot]:
    """Yield the entries of a configuration that part of a construction makes: by its class, its defaults, its text."""
    if isinstance(node, ast.Call) and isinstance(kind := _theirs(node.func, module), type) and _is_of_entries(kind):
        yield from (Spot(p.name, ast.unparse(node.func), p.default) for p in parameters_of(kind))
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "SimpleNamespace":
        yield from (Spot(k.arg, "SimpleNamespace", v) for k in node.keywords if k.arg for v in _constants(k.value))
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None and isinstance(there := _theirs(value, module), Mapping):
                yield from (Spot(name, DICT, v) for name, v in there.items() if isinstance(name, str))
        named = [k.value for k in node.keys if isinstance(k, ast.Constant)]
        for there in vars(module).values():  # defaults of the file's, which it adds to what it is handed
            if len(named) > 1 and isinstance(there, Mapping) and set(named) <= set(there):
                yield from (Spot(name, DICT, v) for name, v in there.items() if isinstance(name, str))
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield from (Spot(key.value, DICT, v) for v in _constants(value))


def _is_of_entries(kind: type) -> bool:
    """Return whether a class is one of entries: a dataclass or a named tuple."""
    return is_dataclass(kind) or is_named_tuple(kind)


def _constants(value: ast.AST) -> Iterator[Any]:
    """Yield what is written as a number or as None."""
    if isinstance(value, ast.Constant):
        yield value.value


def _theirs(node: ast.AST, module: ModuleType) -> Any:
    """Return what a name of the user's file stands for, "theirs.Config"; None where it is no such name."""
    own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "theirs"
    return getattr(module, node.attr, None) if own and isinstance(node, ast.Attribute) else None


def is_given(made: Construction, name: str) -> bool:
    """Return whether a construction hands on an argument or entry of a name."""
    return re.search(rf"\b{name}[\"']?(=|: )", made.text) is not None


def given_options(made: Construction, options: Sequence[Option]) -> Iterator[Given]:
    """Yield the options that a construction hands on."""
    tests = {f"config.{option.entry} is None": option for option in options}
    for node in ast.walk(expression_of(made.text)):
        for name, value in _pairs(node):
            if isinstance(value, ast.IfExp) and (option := tests.get(ast.unparse(value.test))) is not None:
                yield Given(name, option, ast.unparse(value.body))


def _pairs(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield the arguments of a call, or the entries of a dict, by name."""
    if isinstance(node, ast.Call):
        yield from ((k.arg, k.value) for k in node.keywords if k.arg)
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        yield from ((str(k.value), v) for k, v in pairs if isinstance(k, ast.Constant))


def with_value(made: Construction, name: str, value: str, owner: str = "") -> Construction:
    """Return the construction with another value for an argument or entry, or with one more."""
    call, text = expression_of(made.text), expression_of(value)
    if not _replaced(call, name, text):
        _added(call, name, text, owner)
    return replace(made, text=ast.unparse(call))


def _replaced(call: ast.AST, name: str, value: ast.expr) -> bool:
    """Put the value in the place of all that are written under a name, and return whether there are any."""
    found = False
    for node in ast.walk(call):
        if isinstance(node, ast.Call):
            words = [word for word in node.keywords if word.arg == name]
            for word in words:
                word.value, found = value, True
        elif isinstance(node, ast.Dict):
            for i in (i for i, k in enumerate(node.keys) if isinstance(k, ast.Constant) and k.value == name):
                node.values[i], found = value, True
    return found


def _added(call: ast.AST, name: str, value: ast.expr, owner: str) -> None:
    """Add an argument to the class, or an entry to the first configuration of its owner."""
    nodes = [call] if not owner else [*ast.walk(call)]
    for node in nodes:
        if isinstance(node, ast.Call) and owner in ("", ast.unparse(node.func)):
            node.keywords.append(ast.keyword(name, value))
            return
        if isinstance(node, ast.Dict) and owner == DICT:
            node.keys.append(ast.Constant(name))
            node.values.append(value)
            return
