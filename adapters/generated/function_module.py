"""A function that takes weights as arguments (written as init and apply), as a module that holds the weights."""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from attnconf.adapters.generated.held_objects import register, within

GENERATORS, SEEDS = r"gen|generator|rng|g", r"seed|key|random_?state"  # names of what randomness comes from


class Functional(nn.Module):
    """Holds the tensors of a dict, list or tuple as parameters, and calls a function with them and with its inputs."""

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
    itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    positional = [p.replace(kind=p.POSITIONAL_OR_KEYWORD) if p.kind is p.POSITIONAL_ONLY else p for p in inputs]
    Called.forward.__signature__ = inspect.Signature([itself, *positional])  # type: ignore[attr-defined]
    return Called(held, takes, fixed, inspect.Signature(positional))


def initial(made: Any) -> Any:
    """Return the weights that a pair of functions (init, apply) begins with: what the first of them makes.

    It is given a generator or a seed where it wants one. Raises TypeError where it wants anything else.
    """
    first = next(iter(made.values() if isinstance(made, Mapping) else made))
    wanted = [p.name for p in inspect.signature(first).parameters.values() if p.default is p.empty]
    generators = {name: torch.Generator() for name in wanted if re.fullmatch(GENERATORS, name)}
    return first(**generators, **{name: 0 for name in wanted if re.fullmatch(SEEDS, name)})


def paired(made: Any) -> Functional:
    """Return a module of a pair (init, apply), or (params, apply): it holds the weights, and calls apply with them."""
    first, apply = made.values() if isinstance(made, Mapping) else made
    takes = next(iter(inspect.signature(apply).parameters))
    return functional(apply, initial(made) if callable(first) else first, takes)


def leaves_of(held: Any, path: str = "") -> Iterator[tuple[str, Tensor]]:
    """Yield the tensors of a dict, list or tuple, whatever is inside of it, each by its path."""
    if isinstance(held, Tensor):
        yield path, held
    elif isinstance(held, Mapping):
        for name, x in held.items():
            yield from leaves_of(x, within(path, name, held))
    elif isinstance(held, tuple | list):
        names = getattr(held, "_fields", range(len(held)))
        for name, x in zip(names, held, strict=True):
            yield from leaves_of(x, within(path, name))


def _filled(held: Any, parameters: Mapping[str, Tensor], path: str = "") -> Any:
    if isinstance(held, Tensor):
        return parameters[path]
    if isinstance(held, Mapping):
        return {name: _filled(x, parameters, within(path, name, held)) for name, x in held.items()}
    if isinstance(held, tuple | list):
        names = getattr(held, "_fields", range(len(held)))
        found = [_filled(x, parameters, within(path, name)) for name, x in zip(names, held, strict=True)]
        return type(held)(*found) if hasattr(held, "_fields") else type(held)(found)
    return held
