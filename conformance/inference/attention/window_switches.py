"""Options on which it depends whether attention has its window at all: what conditions around the window read."""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from enum import Enum
from types import ModuleType
from typing import Any

from attnconf.conformance.inference.building.building import Construction
from attnconf.conformance.inference.building.option_spots import Spot, every_spot, is_given
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.source.syntax import tree_of


def switches(place: Place, made: Construction, window: str) -> Iterator[tuple[Spot, str, str]]:
    """Yield the options that are left at their defaults and may turn a window on: each, its default, another value."""
    conditions = list(_conditions(place.thing, window))
    for spot in every_spot(place, made):
        given = spot.name == window or is_given(made, spot.name)
        if not given and any(re.search(rf"\b{spot.name}\b", test) for test in conditions):
            yield from ((spot, default, other) for default, other in _others(spot.default, place.module))


def _conditions(thing: Any, window: str) -> Iterator[str]:
    """Yield the conditions of a class's code that stand before its window, or beside it."""
    try:
        tree = tree_of(textwrap.dedent(inspect.getsource(thing)))
    except (OSError, TypeError, SyntaxError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.If | ast.IfExp | ast.BoolOp) and re.search(rf"\b{window}\b", ast.unparse(node)):
            yield ast.unparse(node if isinstance(node, ast.BoolOp) else node.test)


def _others(default: Any, module: ModuleType) -> Iterator[tuple[str, str]]:
    """Yield how a default is written, with each other value: of a flag, or of an enumeration of the file."""
    if isinstance(default, bool):
        yield repr(default), repr(not default)
    kind = type(default)
    if isinstance(default, Enum) and getattr(module, kind.__name__, None) is kind:
        own = f"theirs.{kind.__name__}"
        yield from ((f"{own}.{default.name}", f"{own}.{m.name}") for m in kind if m is not default)
