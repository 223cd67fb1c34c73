"""Functions of a file that make a configuration of nothing: they tell what its entries are by default."""

import re
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

from attnconf.conformance.inference.trials.probing import Failed, attempt
from attnconf.conformance.inference.words.records import is_record
from attnconf.conformance.inference.words.vocabulary import meanings, snake
from attnconf.conformance.source.signatures import parameters_of

DOES = r"_|(main|run|demo|test|load|download|train|parse)"  # such a one does something


def made_by_functions(module: ModuleType) -> Iterator[Any]:
    """Yield what functions make that need nothing: those called as a configuration is, and those of classes."""
    own = [thing for thing in vars(module).values() if getattr(thing, "__module__", "") == module.__name__]
    makers: list[Callable[[], Any]] = [f for f in own if isinstance(f, FunctionType) and _is_named_so(f.__name__)]
    makers += [one for kind in own if isinstance(kind, type) for one in _of_a_class(kind)]
    for thing in makers:
        if not _needs_nothing(thing):
            continue
        try:
            made: Any = attempt(thing)
        except Failed:
            continue
        if isinstance(made, dict | SimpleNamespace) or is_record(type(made)):
            yield made


def _of_a_class(kind: type) -> Iterator[Callable[[], Any]]:
    """Yield the functions of a class that need no object: presets have names of their own, as `small`."""
    for name, one in vars(kind).items():
        if isinstance(one, staticmethod | classmethod) and not re.match(DOES, name):
            yield getattr(kind, name)


def _is_named_so(name: str) -> bool:
    """Return whether a word of a name says that it is a configuration; one that is parsed is somebody's command."""
    words = snake(name).strip("_").split("_")
    return "parse" not in words and any(len(word) > 1 and "config" in meanings(word) for word in words)


def _needs_nothing(function: Callable[..., Any]) -> bool:
    return all(p.default is not p.empty or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters_of(function))
