"""Classes of other libraries as modules of torch, made anew: ``LentBy`` is a module of definitions that holds them."""

import inspect
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

from torch import nn

Parameters = list[inspect.Parameter]
NOTHING = inspect.Parameter.empty
WIDTH = inspect.Parameter("in_features", inspect.Parameter.KEYWORD_ONLY)  # where theirs is read off the first input


class LentBy(ModuleType):
    """The definitions of a module, its classes lent to torch by a function."""

    def __init__(self, module: ModuleType, lend: Callable[[Any], Any], by: str, told: str):
        super().__init__(module.__name__)
        entries = list(vars(module).items())  # some load others as they are read
        vars(self).update({name: lend(value) for name, value in entries})
        vars(self).update(__wrapped__=module, __lent_by__=by, __told__=told)


def lender(name: str) -> Callable[[ModuleType], ModuleType]:
    """Return a function of this folder by its module and its name, as in "numpy_arrays.in_arrays"."""
    file, function = name.split(".")
    found: Callable[[ModuleType], ModuleType] = getattr(import_module(f"attnconf.adapters.generated.{file}"), function)
    return found


def parameters_of(function: Any) -> Parameters:
    """Return the parameters of a method of a class, without ``self``."""
    return list(inspect.signature(function).parameters.values())[1:]


def required(parameters: Parameters) -> int:
    """Return how many parameters have to be given."""
    return sum(p.default is NOTHING and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters)


def lent_class(
    kind: type, base: type[nn.Module], constructor: Parameters, call: Parameters, unsaid: frozenset[str]
) -> type:
    """Return a class of modules that is built and called like ``kind``, but for what is given unsaid.

    Its objects are made by ``base(kind, options)``, which has a method ``run(args, kwargs)``.
    """

    def __init__(self: Any, **options: Any) -> None:
        base.__init__(self, kind, options)

    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        return self.run(args, kwargs)

    forward.__signature__ = _without(call, unsaid, "self")  # type: ignore[attr-defined]  # a function takes any
    __init__.__wrapped__ = kind.__init__  # type: ignore[attr-defined,misc]  # its code is theirs
    own = {name: getattr(kind, name, None) for name in ("__module__", "__qualname__", "__doc__")}
    own |= {"__signature__": _without(constructor, unsaid), "__init__": __init__, "forward": forward}
    return type(kind.__name__, (base,), own)


def _without(parameters: Parameters, unsaid: frozenset[str], *first: str) -> inspect.Signature:
    own = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in first]
    return inspect.Signature([*own, *(p for p in parameters if p.name not in unsaid)])
