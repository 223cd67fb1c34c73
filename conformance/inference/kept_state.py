"""What a call keeps for the next one, handed back: the tokens after it have to be what they are in the whole.

This holds whatever the parameters are. A model that embeds its ids is asked with ids, as positions are counted there.
"""

import ast
import contextlib
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from attnconf.conformance.inference.building import Construction, run, space_for
from attnconf.conformance.inference.calling import CACHE, parameters
from attnconf.conformance.inference.configurations import class_named
from attnconf.conformance.inference.probing import Failed, attempt
from attnconf.conformance.inference.trial import same_numbers
from attnconf.conformance.inference.vocabulary import meanings, snake
from attnconf.conformance.source.signatures import parameters_of
from attnconf.conformance.source.syntax import tree_of

KEEPING = r"(use|return|output|keep|with)_?(cache|kv|past|presents?|state|key_?value)s?"
MAKES = r"(new|make|init|create|empty|build|fresh|get|allocate|alloc)_?(kv_?)?(caches?|states?|past)"
PICKS: tuple[Callable[[Any], Any], ...] = (lambda r: r[-1], lambda r: tuple(r[1:]), lambda r: r[1])
Last = tuple[Tensor, Any]  # the output of the last token, and all that came back
LONG = 6
UNTRIED = "was not tried"


def flags(thing: Any) -> dict[str, bool]:
    """Return what asks a call for what it keeps."""
    return {p.name: True for p in parameters(thing) if isinstance(p.default, bool) and re.fullmatch(KEEPING, p.name)}


def continued(last: Callable[[Tensor, Any], Last | None], x: Tensor) -> str:
    """Return in which way tokens of (B, L, …) after a cache differ from those of the whole; "" where they do not.

    A cache that no call returns, or that a call does not take back as it came, is not tried.
    """
    whole = [last(x[:, :n], None) for n in (x.shape[1] - 1, x.shape[1])]
    before = last(x[:, :-2], None)
    if before is None or None in whole:
        return UNTRIED
    for pick in PICKS:
        first = last(x[:, -2:-1], pick(before[1]))
        if first is None:
            continue
        second = last(x[:, -1:], pick(first[1]))
        ends = (_alike(first, whole[0]), second is not None and _alike(second, whole[1]))
        return "" if all(ends) else _differing(ends[0])
    return UNTRIED


def continued_in_place(last: Callable[[Tensor, Any], Last | None], x: Tensor, kept: Any) -> str:
    """Return in which way tokens of (B, L, …) after those that an object keeps differ from those of the whole.

    The object is handed to every call, which writes into it. "" where they do not differ.
    """
    whole = [last(x[:, :n], None) for n in (x.shape[1] - 1, x.shape[1])]
    parts = [last(part, kept) for part in (x[:, :-2], x[:, -2:-1], x[:, -1:])]
    if whole[0] is None or whole[1] is None or None in parts:
        return UNTRIED
    ends = [part is not None and _alike(part, end) for part, end in zip(parts[1:], whole, strict=True)]
    return "" if all(ends) else _differing(ends[0])


def keys_and_values(kept: Any) -> bool:
    """Return whether something that came back is two tensors of one shape, as the keys and values of a call are."""
    pair = list(kept) if isinstance(kept, tuple | list) else []
    tensors = len(pair) == 2 and all(isinstance(x, Tensor) and x.ndim >= 3 for x in pair)
    return tensors and pair[0].shape == pair[1].shape


def kept_objects(annotation: Any, module: ModuleType) -> Iterator[Any]:
    """Yield what an argument may be given to keep tokens in: objects of the class that its annotation names.

    They are made without arguments, of that class or of one of its kind which the file has.
    """
    kind = class_named(annotation, module)
    if kind is None or not (hasattr(kind, "update") or hasattr(kind, "append")) or kind.__module__ == "builtins":
        return
    for each in [kind, *(v for v in vars(module).values() if isinstance(v, type) and issubclass(v, kind))]:
        with contextlib.suppress(Failed):
            yield attempt(each)


def kept_dicts(call: Callable[[dict[Any, Any]], Any]) -> Iterator[dict[Any, Any]]:
    """Yield an empty dict of the caller's, where a call that is handed one writes keys and values into it."""
    written: dict[Any, Any] = {}
    call(written)
    values = tuple(written.values())
    tensors = [x for x in values if isinstance(x, Tensor) and x.ndim >= 3]
    if keys_and_values(tensors) or any(map(keys_and_values, values)):
        yield {}


def _differing(first: bool) -> str:
    which = "a second token" if first else "a token"
    return f"does not continue a sequence: {which} after it differs from that of the whole"


def _alike(one: Last, other: Last | None) -> bool:
    return other is not None and same_numbers(one[0], other[0])


def of_ids(thing: Any, module: Any, made: Construction, config: Any) -> tuple[str, ...]:
    """Return a word on a cache of a model that reads ids, or is handed vectors for them; nothing where it is right."""
    kept = [p.name for p in parameters(thing) if p.default is None and re.fullmatch(CACHE, snake(p.name).strip("_"))]
    inner = handed_text(made.text) or (made.text if hasattr(config, "vocab_size") else "")
    required = [p.name for p in parameters(thing) if p.default is inspect.Parameter.empty]
    if not kept or not inner:
        return ()
    untried = () if handed_text(made.text) else (f"the argument `{kept[0]}` of forward {UNTRIED}",)
    if len(required) != 1:
        return untried
    space = space_for(config, module)
    try:
        built = attempt(partial(run, Construction(inner, made.before), space))
        ids = torch.tensor([[1, 4, 2, 5, 3, 1], [3, 3, 1, 2, 5, 4]])
        last = partial(_last, built.double().eval(), kept[0], flags(thing))
        words = continued(last, ids)
        for one in _made_by(built, len(ids)) if words == UNTRIED else ():
            words = continued_in_place(partial(_last, built, kept[0], flags(thing), alone=True), ids, one)
    except (Failed, RuntimeError, TypeError, ValueError):
        return untried
    return (f"the argument `{kept[0]}` of forward {words}",) if words else ()


def _made_by(module: nn.Module, samples: int) -> Iterator[Any]:
    """Yield what the first method of a model that makes a cache gives: asked for so many samples, and enough tokens."""
    makers = [name for name in dir(type(module)) if re.fullmatch(MAKES, name)]
    for name in makers[:1]:
        method = getattr(module, name)
        needed = [p.name for p in parameters_of(method) if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
        with contextlib.suppress(Failed):
            given = {each: 32 if "max_len" in meanings(each) else samples for each in needed}
            yield attempt(partial(method, **given))


def handed_text(text: str) -> str:
    """Return what is handed vectors in a construction's text, without that; "" where nothing is."""
    calls = (node for node in ast.walk(tree_of(text)) if isinstance(node, ast.Call) and node.args)
    return next((ast.unparse(c.args[0]) for c in calls if isinstance(c.func, ast.Name) and c.func.id == "handed"), "")


def _last(
    module: nn.Module, name: str, more: Mapping[str, Any], ids: Tensor, kept: Any, alone: bool = False
) -> Last | None:
    """Return the logits of the last id and all that came back; None where nothing did, or they alone.

    ``alone``: they may.
    """
    given = {**more, **({} if kept is None else {name: kept})}
    try:
        result = attempt(lambda: module(ids, **given))
    except Failed:
        return None
    if alone and isinstance(result, Tensor):
        result = (result,)
    elif not isinstance(result, tuple | list) or len(result) < 2:
        return None
    out = next((x for x in result if isinstance(x, Tensor) and x.ndim == 3 and x.shape[:2] == ids.shape), None)
    return None if out is None else (out[:, -1:].detach(), result)
