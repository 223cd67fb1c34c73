"""Who makes the weights that a function is handed: other functions of its file, or class methods of what holds them."""

from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

from attnconf.conformance.inference.words.records import entries_of


def functions_of(module: ModuleType) -> dict[str, FunctionType]:
    """Return the functions of a file by name, behind them those of its classes that make one: ``Weights.random``.

    The latter are bound to their class, and asked for their parameters and their code as functions are.
    """
    own = {n: f for n, f in vars(module).items() if isinstance(f, FunctionType) and f.__module__ == module.__name__}
    return own | dict(_methods(module))


def _methods(module: ModuleType) -> Iterator[tuple[str, FunctionType]]:
    for name, kind in list(vars(module).items()):
        if isinstance(kind, type) and kind.__module__ == module.__name__ and entries_of(kind):
            made = (n for n, one in vars(kind).items() if isinstance(one, classmethod | staticmethod))
            yield from ((f"{name}.{n}", getattr(kind, n)) for n in made if not n.startswith("_"))


def code_of(maker: FunctionType) -> Any:
    """Return what has the code of a maker: the function behind a class method."""
    return getattr(maker, "__func__", maker)
