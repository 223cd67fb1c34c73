"""Objects that tokens may be kept in: of the file's own classes, made as their constructors want."""

import contextlib
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from types import FunctionType, ModuleType
from typing import Any

import torch

from attnconf.conformance.inference.building.building import Construction, Meanings, run, space_for
from attnconf.conformance.inference.building.configurations import filled
from attnconf.conformance.inference.building.construction import constructions
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.budgets import CONSTRUCTIONS
from attnconf.conformance.inference.trials.probing import Failed, attempt
from attnconf.conformance.inference.words.records import class_named
from attnconf.conformance.inference.words.vocabulary import meanings, snake
from attnconf.conformance.source.signatures import parameters_of

KEEPS = {"update", "append", "put", "insert", "store", "add", "extend", "write", "push", "concat"}
OF_SAMPLES = r"batch(_?size)?|(n|num)_?(batch|samples|sequences)|b|bs|bsz|max_?batch(_?size)?"
_NEW = r"(new|make|init|create|empty|build|fresh|allocate|alloc|reserve)"
MAKES = rf"({_NEW}|get)_?(kv_?)?(caches?|states?|past)|{_NEW}_?(kv|(kv_?)?(buffers?|stores?|slots?))"
ENOUGH = 32  # tokens that an object has room for
New = Callable[[], Any]


def kept_objects(annotation: Any, module: ModuleType, config: Any = None, samples: int = 1) -> Iterator[New]:
    """Yield what makes the objects that an argument may be given to keep tokens in, one for each sequence.

    They are of the class that its annotation names, or of one of its kind which the file has or imports, and are made
    without arguments or of sizes. Where nothing is named, they are of what the file defines and calls a cache.
    """
    kind = class_named(annotation, module)
    if kind is not None and kind.__module__ == "builtins":
        kind = None
    there = [v for v in vars(module).values() if isinstance(v, type)]
    own = [v for v in there if v.__module__ == module.__name__ and _is_called_so(v)]
    for each in dict.fromkeys([kind, *(v for v in there if issubclass(v, kind))] if kind else own):
        if not any(name in KEEPS or name.split("_")[0] in KEEPS for name in dir(each)):
            continue
        with contextlib.suppress(Failed):
            attempt(each)
            yield partial(attempt, each)
            continue
        yield from _of_sizes(each, module, config, samples)


def made_by_functions(module: ModuleType) -> Iterator[New]:
    """Yield the functions of a file that make what a sequence begins with, asked for nothing."""
    for name, function in vars(module).items():
        if isinstance(function, FunctionType) and function.__module__ == module.__name__ and re.fullmatch(MAKES, name):
            with contextlib.suppress(Failed):
                attempt(function)
                yield partial(attempt, function)


def made_of_sizes(module: ModuleType, config: Any, samples: int, given: Mapping[str, Any]) -> Iterator[New]:
    """Yield the functions of a file that make what a sequence begins with, asked for it of sizes.

    ``given``: what a call is given, by name; of that they may want the weights.
    """
    heads = getattr(config, "num_heads", None)
    width = getattr(config, "head_dim", None) or (config.embed_dim // heads if heads else None)
    told = {"max_len": ENOUGH, "dtype": torch.float64, "device": "cpu", "heads": heads, "kv_heads": heads,
            "head_dim": width, "embed": getattr(config, "embed_dim", None)}  # fmt: skip
    for name, function in vars(module).items():
        own = isinstance(function, FunctionType) and function.__module__ == module.__name__
        wanted = [p.name for p in parameters_of(function) if p.default is p.empty] if own else []
        if not wanted or not re.fullmatch(MAKES, name):
            continue
        known = {**{name: given.get(name) for name in wanted}, **_sizes(wanted, told, samples)}
        new = partial(attempt, partial(function, **known))
        with contextlib.suppress(Failed):
            new()
            yield new


def makes_what_is_kept(place: Place) -> bool:
    """Return whether a function of a file, or a method of what is judged, makes what a sequence begins with."""
    return any(re.fullmatch(MAKES, name) for name in dir(place.thing)) or any(
        True for _ in made_by_functions(place.module)
    )


def made_by_methods(owner: Any, samples: int) -> Iterator[New]:
    """Yield the methods of an object that make what a sequence begins with, given sizes and what tensors are like."""
    told = {"max_len": ENOUGH, "dtype": torch.float64, "device": "cpu"}
    for name, method in inspect.getmembers(owner, inspect.ismethod):
        wanted = [p for p in parameters_of(method) if p.default is p.empty]
        if not re.fullmatch(MAKES, name) or any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in wanted):
            continue
        sizes = _sizes([p.name for p in wanted], told, samples)
        if len(sizes) == len(wanted):
            yield partial(attempt, partial(method, **sizes))


def _sizes(wanted: Sequence[str], told: Mapping[str, Any], samples: int) -> dict[str, Any]:
    """Return what is wanted by names that say what it is: the number of samples, or what is ``told`` by its meaning."""
    known = {name: next((told[m] for m in meanings(name) if m in told), None) for name in wanted}
    known |= {name: samples for name in wanted if re.fullmatch(OF_SAMPLES, snake(name))}
    return {name: value for name, value in known.items() if value is not None}


def _is_called_so(kind: type) -> bool:
    return re.search(r"cache|past|(^|_)kv", snake(kind.__name__)) is not None


def _of_sizes(kind: type, module: ModuleType, config: Any, samples: int) -> Iterator[New]:
    """Yield what makes objects of a class of the sizes of a call: enough tokens, as many samples.

    A width that is not said to be a head's is one all the same, as a rule; in a configuration it is that of all heads.
    """
    if not hasattr(config, "num_heads"):
        return
    heads, width = str(config.num_heads), str(getattr(config, "head_dim", config.embed_dim // config.num_heads))
    space = space_for(config, module)
    for embed in ((width, str(config.embed_dim)), (str(config.embed_dim),)):
        table: Meanings = {
            "batch": (str(samples),), "max_len": (str(ENOUGH),), "layers": ("1",), "heads": (heads,),
            "kv_heads": (heads,), "head_dim": (width,), "hidden": ("8",), "embed": embed,
            "dtype": ("torch.float64",), "device": ("'cpu'",), "config": (),
        }  # fmt: skip
        ways = constructions(f"theirs.{kind.__name__}", kind, table, module, _samples(samples))
        for made in islice(ways, CONSTRUCTIONS):
            with contextlib.suppress(Failed, Exception):
                new = partial(attempt, partial(_built, made, table, module, dict(space)))
                new()
                yield new


def _samples(samples: int) -> Callable[[str, inspect.Parameter], tuple[str, ...]]:
    """Return what gives the number of samples to a parameter that is called so."""
    return lambda name, _: (str(samples),) if re.fullmatch(OF_SAMPLES, snake(name)) else ()


def _built(made: Construction, table: Meanings, module: ModuleType, space: dict[str, Any]) -> Any:
    return run(filled(made, table, module, space), space)
