"""Methods as functions: of a class that only keeps functions together, and perhaps what they all need."""

import copy
import inspect
import re
from collections.abc import Mapping
from types import FunctionType
from typing import Any

from torch import nn

from attnconf.conformance.inference.trials.binding import CALLED_AS
from attnconf.conformance.inference.words.vocabulary import SIZES
from attnconf.conformance.source.signatures import parameters_of


def methods_of(name: str, thing: Any) -> Mapping[str, FunctionType]:
    """Return the public methods of a class as functions of what each is given, by ``Class.method``.

    None where its objects are called themselves, or cannot be made of nothing but an id of padding.
    """
    if not isinstance(thing, type) or issubclass(thing, nn.Module | BaseException) or "__call__" in vars(thing):
        return {}
    made = _made(name, thing)
    found = {}
    for method, kept in vars(thing).items():
        function = kept.__func__ if isinstance(kept, staticmethod | classmethod) else kept
        whole = name if isinstance(kept, staticmethod | classmethod) else made
        if isinstance(function, FunctionType) and not method.startswith("_") and whole:
            found[f"{name}.{method}"] = _as_function(function, f"{whole}.{method}", isinstance(kept, staticmethod))
    return found


def _made(name: str, thing: type) -> str:
    """Return the text that makes an object of a class: of nothing, or of an id of padding; "" if it wants more."""
    required = [p.name for p in parameters_of(thing) if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
    if not all(re.fullmatch(SIZES["padding"], p.lower()) for p in required):
        return ""
    return f"{name}({', '.join(f'{p}=0' for p in required)})"


def _as_function(function: FunctionType, called_as: str, bare: bool) -> FunctionType:
    """Return a copy of a method whose parameters are those that a call gives it."""
    own = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    own.__kwdefaults__, own.__doc__, own.__module__ = function.__kwdefaults__, function.__doc__, function.__module__
    own.__annotations__ = copy.copy(function.__annotations__)
    taken = list(inspect.signature(function).parameters.values())
    vars(own)["__signature__"] = inspect.Signature(taken if bare else taken[1:])
    vars(own)[CALLED_AS] = called_as
    return own
