"""Functions that build: what is given sizes and gives a module, or a pair of functions (init, apply), as its class."""

import functools
import inspect
import re
from collections.abc import Mapping, Sequence
from itertools import islice
from types import FunctionType, ModuleType
from typing import Any

from torch import nn

from attnconf.adapters.contract import EncoderLayerConfig
from attnconf.adapters.generated.function_module import Functional, OfFunction
from attnconf.conformance.inference.building.building import as_module, run, space_for
from attnconf.conformance.inference.building.configurations import filled
from attnconf.conformance.inference.building.construction import constructions, part_of
from attnconf.conformance.inference.trials.budgets import FEW
from attnconf.conformance.inference.trials.calling import parameters
from attnconf.conformance.inference.trials.probing import Failed, attempt
from attnconf.conformance.inference.trials.spied import BUILT_AS
from attnconf.conformance.inference.weights.function_forms import takes_weights
from attnconf.conformance.inference.words.vocabulary import SIZES, meanings, snake
from attnconf.conformance.source.signatures import parameters_of

ANEW = (Functional, OfFunction)  # of these, a class is made in every call
# What a function does that builds nothing: it is not called to see.
DOES = r"(main|train|fit|run|test|demo|eval\w*|plot|show|print|load|save|download|generate|translate|sample)(_|$)"
# What parameters get in a first call, which is for the class of what comes back: any sizes that go together.
NUMBERS: Mapping[str, Sequence[str]] = {
    "embed": ("12",), "out": ("12",), "heads": ("2",), "head_dim": ("6",), "key_dim": ("12",), "value_dim": ("12",),
    "hidden": ("48",), "ratio": ("4",), "max_len": ("16",), "dropout": ("0.0",), "layers": ("2",),
    "encoder_layers": ("2",), "decoder_layers": ("2",), "vocab": ("11",), "source_vocab": ("11",),
    "target_vocab": ("11",), "padding": ("0",), "eps": ("1e-5",), "config": (),
}  # fmt: skip


def as_built(name: str, thing: Any, module: ModuleType) -> Any:
    """Return the class of what a function of the file builds, with the function in place of its constructor.

    So it is with a class whose objects are a pair of methods (init, apply). Anything else comes back as it is.
    """
    if not (makes_pairs(thing) or isinstance(thing, FunctionType)) or not _takes_sizes(thing):
        return thing
    kind = _kind(name, thing, module)
    if kind is None:
        return thing

    @functools.wraps(thing)
    def start(self: Any, *args: Any, **kwargs: Any) -> None:
        raise TypeError(f"{name} is called, and not its class")

    itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    given = [p.replace(kind=p.KEYWORD_ONLY) if p.kind is p.POSITIONAL_ONLY else p for p in _taken(thing)]
    start.__signature__ = inspect.Signature([itself, *given])  # type: ignore[attr-defined]
    called = next((k for k in ANEW if issubclass(kind, k)), kind)
    inside = {"__init__": start, "__module__": module.__name__, "__doc__": thing.__doc__, BUILT_AS: called}
    return type(kind.__name__, (kind,), inside)


def makes_pairs(thing: Any) -> bool:
    """Return whether the objects of a class make parameters by a method, ``init``, and are called with them."""
    plain = isinstance(thing, type) and not issubclass(thing, nn.Module)
    return plain and all(isinstance(vars(thing).get(name), FunctionType) for name in ("init", "apply"))


def _takes_sizes(thing: Any) -> bool:
    """Return whether all that a function requires may be sizes or a configuration, and its name says nothing else."""
    taken = [p for p in _taken(thing) if p.kind is not p.VAR_POSITIONAL]
    required = [p.name for p in taken if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
    sizes = all(meanings(name, SIZES) for name in required) and (_is_named(taken) or _makes(thing))
    return bool(taken) and sizes and not re.match(DOES, snake(thing.__name__)) and not takes_weights(thing)


def _taken(thing: Any) -> list[inspect.Parameter]:
    """Return what a function, or the constructor of a class, is given."""
    return parameters_of(thing) if isinstance(thing, type) else parameters(thing)


def _is_named(taken: Sequence[inspect.Parameter]) -> bool:
    return any(p.kind is not p.VAR_KEYWORD for p in taken)


def _makes(thing: FunctionType) -> bool:
    """Return whether a function's code names a class of its file: it is called to see what it makes of no argument."""
    read = (thing.__globals__.get(name) for name in thing.__code__.co_names)
    return any(isinstance(x, type) and x.__module__ == thing.__module__ for x in read)


def _kind(name: str, thing: Any, module: ModuleType) -> type | None:
    """Return the class of the module that a function builds, or of what holds a pair or calls a function; else None.

    Nor is a class one that is defined anew in each call: its objects' calls cannot be looked at.
    """
    config = EncoderLayerConfig(12, 2, 48)
    for made in islice(constructions(f"theirs.{name}", thing, NUMBERS, module, part_of(module)), FEW):
        space = space_for(config, module)
        try:
            whole = attempt(functools.partial(filled, made, NUMBERS, module, space))
            _, found = as_module(whole, attempt(functools.partial(run, whole, space)))
        except Failed:
            continue
        if isinstance(found, nn.Module):
            anew = "<locals>" in type(found).__qualname__ and not isinstance(found, ANEW)
            return None if anew else type(found)
    return None
