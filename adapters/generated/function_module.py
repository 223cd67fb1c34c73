"""A function that takes weights as arguments (written as init and apply), as a module that holds the weights."""

import copy
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

from attnconf.adapters.generated.held_objects import register, within

GENERATORS, SEEDS = r"gen|generator|rng|g", r"seed|key|random_?state"  # names of what randomness comes from


class Functional(nn.Module):
    """Holds the tensors of a dict, list, tuple, namespace or dataclass as parameters, for a function."""

    function: Callable[..., Any]

    def __init__(self, held: Any, takes: str, fixed: Mapping[str, Any], inputs: inspect.Signature):
        super().__init__()
        self.held, self.takes, self.fixed, self.inputs = held, takes, dict(fixed), inputs
        for name, x in leaves_of(held):
            register(self, name.split("."), nn.Parameter(x.detach().clone()))

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        given = self.inputs.bind(*args, **kwargs).arguments
        held = _filled(self.held, dict(self.named_parameters()))
        return type(self).function(**({self.takes: held} if self.takes else held), **given, **self.fixed)


def functional(function: Callable[..., Any], held: Any, takes: str = "", **fixed: Any) -> Functional:
    """Return a module that holds the weights ``held`` as parameters, and calls ``function`` with them.

    The weights are passed as the argument ``takes``, or each as an argument of its own; ``fixed``: further arguments,
    such as sizes. Raises TypeError where there are no weights in ``held``.
    """
    if isinstance(held, Tensor) or not all(x.is_floating_point() for _, x in leaves_of(held)):
        raise TypeError(f"no weights: a {type(held).__name__} came back")
    known = {takes, *fixed, *([] if takes else held)}
    inputs = [p for p in inspect.signature(function).parameters.values() if p.name not in known]

    class Called(Functional):
        def forward(self, *args: Any, **kwargs: Any) -> Any:
            return super().forward(*args, **kwargs)

    Called.function = staticmethod(function)
    Called.forward.__signature__ = _behind_self(inputs)  # type: ignore[attr-defined]
    return Called(held, takes, fixed, inspect.Signature([*map(_by_name, inputs)]))


class OfFunction(nn.Module):
    """Calls a function that was made for some sizes, and holds its weights where nobody sees them, if it has any."""

    function: Callable[..., Any]

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return type(self).function(*args, **kwargs)


def of_function(function: Callable[..., Any]) -> OfFunction:
    """Return a module that calls a function, and is called as that is."""

    class Called(OfFunction):
        def forward(self, *args: Any, **kwargs: Any) -> Any:
            return super().forward(*args, **kwargs)

    Called.function = staticmethod(function)
    Called.forward.__signature__ = _behind_self(inspect.signature(function).parameters.values())  # type: ignore[attr-defined]
    return Called()


def _behind_self(inputs: Iterable[inspect.Parameter]) -> inspect.Signature:
    """Return the signature of a method with these inputs."""
    itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    return inspect.Signature([itself, *map(_by_name, inputs)])


def _by_name(p: inspect.Parameter) -> inspect.Parameter:
    return p.replace(kind=p.POSITIONAL_OR_KEYWORD) if p.kind is p.POSITIONAL_ONLY else p


def both_of(made: Any) -> tuple[Any, Any]:
    """Return the two of a pair (init, apply), or (params, apply): entries, or methods of an object of that name."""
    if not isinstance(made, Mapping | tuple | list):
        return made.init, made.apply
    first, apply = made.values() if isinstance(made, Mapping) else made
    return first, apply


def initial(made: Any) -> Any:
    """Return the weights that a pair of functions (init, apply) begins with: what the first of them makes.

    It is given a generator or a seed where it wants one. Raises TypeError where it wants anything else.
    """
    first, _ = both_of(made)
    wanted = [p.name for p in inspect.signature(first).parameters.values() if p.default is p.empty]
    generators = {name: torch.Generator() for name in wanted if re.fullmatch(GENERATORS, name)}
    return first(**generators, **{name: 0 for name in wanted if re.fullmatch(SEEDS, name)})


def paired(made: Any) -> Functional:
    """Return a module of a pair (init, apply), or (params, apply): it holds the weights, and calls apply with them."""
    first, apply = both_of(made)
    takes = next(iter(inspect.signature(apply).parameters))
    return functional(apply, initial(made) if callable(first) else first, takes)


def leaves_of(held: Any, path: str = "") -> Iterator[tuple[str, Tensor]]:
    """Yield the tensors of a dict, list, tuple, namespace or dataclass, whatever is inside of it, each by its path."""
    if isinstance(held, Tensor):
        yield path, held
    beside = held if isinstance(held, Mapping) else ()
    for name, x in _entries(held):
        yield from leaves_of(x, within(path, name, beside))


def _entries(held: Any) -> Iterable[tuple[Any, Any]]:
    """Return what something holds, by names or numbers; nothing of what holds nothing."""
    if isinstance(held, Mapping):
        return held.items()
    if isinstance(held, tuple | list):
        return zip(getattr(held, "_fields", range(len(held))), held, strict=True)
    named = isinstance(held, SimpleNamespace) or (is_dataclass(held) and not isinstance(held, type))
    return vars(held).items() if named else ()


def _filled(held: Any, parameters: Mapping[str, Tensor], path: str = "") -> Any:
    if isinstance(held, Tensor):
        return parameters[path]
    beside = held if isinstance(held, Mapping) else ()
    found = {name: _filled(x, parameters, within(path, name, beside)) for name, x in _entries(held)}
    if isinstance(held, Mapping):
        return found
    if isinstance(held, tuple | list):
        return type(held)(*found.values()) if hasattr(held, "_fields") else type(held)(found.values())
    if not found:
        return held
    other = copy.copy(held)
    for name, x in found.items():
        object.__setattr__(other, name, x)  # of a frozen dataclass, too
    return other
