"""A function that is handed its weights, as a module that holds them: what somebody wrote as init and apply."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from torch import Tensor, nn


class Functional(nn.Module):
    """Holds the tensors of a dict, list or tuple as parameters, and calls a function with them and with its inputs."""

    def __init__(self, function: Callable[..., Any], held: Any, takes: str, fixed: Mapping[str, Any]):
        super().__init__()
        self.held, self.takes = held, takes
        for name, x in _leaves(held):
            self.register_parameter(name, nn.Parameter(x.detach().clone()))
        known = {takes, *fixed, *([] if takes else held)}
        inputs = [p for p in inspect.signature(function).parameters.values() if p.name not in known]
        signature = inspect.Signature(inputs)

        def forward(*args: Any, **kwargs: Any) -> Any:
            return function(**self.weights(), **signature.bind(*args, **kwargs).arguments, **fixed)

        forward.__signature__ = signature  # type: ignore[attr-defined]
        self.forward = forward

    def weights(self) -> dict[str, Any]:
        """Return the arguments that are weights, made of the parameters as they are now."""
        filled = _filled(self.held, dict(self.named_parameters()))
        return {self.takes: filled} if self.takes else filled


def functional(function: Callable[..., Any], held: Any, takes: str = "", **fixed: Any) -> Functional:
    """Return a module that calls ``function`` with weights of its own: those that are ``held``, and like them.

    They are given as the argument ``takes``, or each as an argument of its own; ``fixed``: arguments that are sizes.
    """
    return Functional(function, held, takes, fixed)


def _leaves(held: Any, path: str = "") -> Iterator[tuple[str, Tensor]]:
    if isinstance(held, Tensor):
        yield path, held
    elif isinstance(held, Mapping):
        for name, x in held.items():
            yield from _leaves(x, f"{path}_{name}".strip("_"))
    elif isinstance(held, tuple | list):
        names = getattr(held, "_fields", range(len(held)))
        for name, x in zip(names, held, strict=True):
            yield from _leaves(x, f"{path}_{name}".strip("_"))


def _filled(held: Any, parameters: Mapping[str, Tensor], path: str = "") -> Any:
    if isinstance(held, Tensor):
        return parameters[path]
    if isinstance(held, Mapping):
        return {name: _filled(x, parameters, f"{path}_{name}".strip("_")) for name, x in held.items()}
    if isinstance(held, tuple | list):
        names = getattr(held, "_fields", range(len(held)))
        found = [_filled(x, parameters, f"{path}_{name}".strip("_")) for name, x in zip(names, held, strict=True)]
        return type(held)(*found) if hasattr(held, "_fields") else type(held)(found)
    return held
