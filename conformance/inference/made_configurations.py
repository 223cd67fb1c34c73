"""Functions of a file that make a configuration of nothing: they tell what its entries are by default."""

from collections.abc import Iterator
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

from attnconf.conformance.inference.probing import Failed, attempt
from attnconf.conformance.inference.records import is_record
from attnconf.conformance.inference.vocabulary import meanings, snake
from attnconf.conformance.source.signatures import parameters_of


def made_by_functions(module: ModuleType) -> Iterator[Any]:
    """Yield what the functions of a file make that are called as a configuration is, and need not be told anything."""
    for name, thing in list(vars(module).items()):
        own = isinstance(thing, FunctionType) and thing.__module__ == module.__name__
        if not own or not _is_named_so(name) or not _needs_nothing(thing):
            continue
        try:
            made = attempt(thing)
        except Failed:
            continue
        if isinstance(made, dict | SimpleNamespace) or is_record(type(made)):
            yield made


def _is_named_so(name: str) -> bool:
    """Return whether a word of a name says that it is a configuration; one that is parsed is somebody's command."""
    words = snake(name).strip("_").split("_")
    return "parse" not in words and any(len(word) > 1 and "config" in meanings(word) for word in words)


def _needs_nothing(function: FunctionType) -> bool:
    return all(p.default is not p.empty or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters_of(function))
