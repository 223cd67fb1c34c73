"""What a call keeps for the next one, handed back: the tokens after it have to be what they are in the whole.

This holds whatever the parameters are. A model that embeds its ids is asked with ids, as positions are counted there.
"""

import ast
import contextlib
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from attnconf.conformance.inference.angle_names import BEGINS
from attnconf.conformance.inference.budgets import CONSTRUCTIONS
from attnconf.conformance.inference.building import Construction, Meanings, run, space_for
from attnconf.conformance.inference.calling import CACHE, parameters
from attnconf.conformance.inference.configurations import class_named, filled
from attnconf.conformance.inference.construction import constructions
from attnconf.conformance.inference.function_forms import taken
from attnconf.conformance.inference.probing import Failed, attempt
from attnconf.conformance.inference.trial import same_numbers
from attnconf.conformance.inference.vocabulary import meanings, snake
from attnconf.conformance.source.signatures import parameters_of
from attnconf.conformance.source.syntax import tree_of

KEEPING = r"(use|return|output|keep|with)_?(cache|kv|past|presents?|state|key_?value)s?"
MAKES = r"(new|make|init|create|empty|build|fresh|get|allocate|alloc)_?(kv_?)?(caches?|states?|past)"
PICKS: tuple[Callable[[Any], Any], ...] = (lambda r: r[-1], lambda r: tuple(r[1:]), lambda r: r[1])
Last = tuple[Tensor, Any]  # the output of the last token, and all that came back
KEEPS = {"update", "append", "put", "insert", "store", "add", "extend", "write"}  # methods of what keeps tokens
OF_SAMPLES = r"batch(_?size)?|(n|num)_?(batch|samples|sequences)|b|bs|bsz|max_?batch(_?size)?"
BEGIN = rf"{BEGINS}|start|offset|begin|n_?past|past_?len(gth)?|seen|cache_?len(gth)?"
ENOUGH = 32  # tokens that an object has room for
LONG = 6
UNTRIED = "was not tried"


def flags(thing: Any) -> dict[str, bool]:
    """Return what asks a call for what it keeps."""
    return {p.name: True for p in parameters(thing) if isinstance(p.default, bool) and re.fullmatch(KEEPING, p.name)}


def continued(last: Callable[[Tensor, Any, int], Last | None], x: Tensor) -> str:
    """Return in which way tokens of (B, L, …) after a cache differ from those of the whole; "" where they do not.

    ``last``: the last output of tokens, with what is kept of those before and their number. A cache that no call
    returns, or that a call does not take back as it came, is not tried.
    """
    n = x.shape[1]
    whole = [last(x[:, :end], None, 0) for end in (n - 1, n)]
    before = last(x[:, :-2], None, 0)
    if before is None or None in whole:
        return UNTRIED
    for pick in PICKS:
        first = last(x[:, -2:-1], pick(before[1]), n - 2)
        if first is None:
            continue
        second = last(x[:, -1:], pick(first[1]), n - 1)
        ends = (_alike(first, whole[0]), second is not None and _alike(second, whole[1]))
        return "" if all(ends) else _differing(ends[0])
    return UNTRIED


def continued_in_place(last: Callable[[Tensor, Any, int], Last | None], x: Tensor, kept: Any) -> str:
    """Return in which way tokens of (B, L, …) after those that an object keeps differ from those of the whole.

    The object is handed to every call, which writes into it, with the number of tokens before. "" where they do not
    differ.
    """
    whole = [last(x[:, :n], None, 0) for n in (x.shape[1] - 1, x.shape[1])]
    n = x.shape[1]
    parts = [last(part, kept, at) for part, at in ((x[:, :-2], 0), (x[:, -2:-1], n - 2), (x[:, -1:], n - 1))]
    if whole[0] is None or whole[1] is None or None in parts:
        return UNTRIED
    ends = [part is not None and _alike(part, end) for part, end in zip(parts[1:], whole, strict=True)]
    return "" if all(ends) else _differing(ends[0])


def starts(thing: Any) -> Callable[[int], dict[str, int]]:
    """Return what gives a call the number of tokens before, by the name of an argument that says where they begin."""
    names = [p.name for p in parameters(thing) if re.fullmatch(BEGIN, snake(p.name).strip("_"))]
    return lambda at: dict.fromkeys(names[:1], at)


def keys_and_values(kept: Any) -> bool:
    """Return whether something that came back is two tensors of one shape, as the keys and values of a call are."""
    pair = list(kept) if isinstance(kept, tuple | list) else []
    tensors = len(pair) == 2 and all(isinstance(x, Tensor) and x.ndim >= 3 for x in pair)
    return tensors and pair[0].shape == pair[1].shape


def kept_objects(annotation: Any, module: ModuleType, config: Any = None, samples: int = 1) -> Iterator[Any]:
    """Yield what an argument may be given to keep tokens in: objects of the class that its annotation names.

    They are made without arguments, of that class or of one of its kind which the file has or imports, or of sizes.
    Where nothing is named, they are of what the file defines and calls a cache.
    """
    kind = class_named(annotation, module)
    if kind is not None and kind.__module__ == "builtins":
        kind = None
    there = [v for v in vars(module).values() if isinstance(v, type)]
    own = [v for v in there if v.__module__ == module.__name__ and _is_called_so(v)]
    for each in dict.fromkeys([kind, *(v for v in there if issubclass(v, kind))] if kind else own):
        if not KEEPS & set(dir(each)):
            continue
        with contextlib.suppress(Failed):
            yield attempt(each)
            continue
        yield from _of_sizes(each, module, config, samples)


def _is_called_so(kind: type) -> bool:
    return re.search(r"cache|past|(^|_)kv", snake(kind.__name__)) is not None


def _of_sizes(kind: type, module: ModuleType, config: Any, samples: int) -> Iterator[Any]:
    """Yield objects of a class that keeps tokens, made of the sizes of a call: enough tokens, as many samples."""
    if not hasattr(config, "num_heads"):
        return
    heads, width = config.num_heads, getattr(config, "head_dim", config.embed_dim // config.num_heads)
    table: Meanings = {
        "batch": (str(samples),), "max_len": (str(ENOUGH),), "layers": ("1",), "heads": (str(heads),),
        "kv_heads": (str(heads),), "head_dim": (str(width),), "hidden": ("8",),
        "embed": (str(width), str(config.embed_dim)),
        "dtype": ("torch.float64",), "device": ("'cpu'",), "config": (),
    }  # fmt: skip
    space = space_for(config, module)
    for made in islice(constructions(f"theirs.{kind.__name__}", kind, table, module, _samples(samples)), CONSTRUCTIONS):
        with contextlib.suppress(Failed, Exception):
            yield attempt(partial(_built, made, table, module, dict(space)))


def _samples(samples: int) -> Callable[[str, inspect.Parameter], tuple[str, ...]]:
    """Return what gives the number of samples to a parameter that is called so."""
    return lambda name, _: (str(samples),) if re.fullmatch(OF_SAMPLES, snake(name)) else ()


def _built(made: Construction, table: Meanings, module: ModuleType, space: dict[str, Any]) -> Any:
    return run(filled(made, table, module, space), space)


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
    needed = [p.name for p in parameters(thing) if p.default is inspect.Parameter.empty]
    required = [name for name in needed if name not in taken(thing)]
    if not kept or not inner:
        return ()
    untried = () if handed_text(made.text) else (f"the argument `{kept[0]}` of forward {UNTRIED}",)
    if len(required) != 1:
        return untried
    space = space_for(config, module)
    try:
        built = attempt(partial(run, Construction(inner, made.before), space))
        ids = torch.tensor([[1, 4, 2, 5, 3, 1], [3, 3, 1, 2, 5, 4]])
        built, also = built.double().eval(), flags(thing)
        words = continued(lambda part, before, _: _last(built, kept[0], also, part, before), ids)
        for one in _made_by(built, len(ids)) if words == UNTRIED else ():
            words = continued_in_place(partial(_from, built, kept[0], thing), ids, one)
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


def _from(module: nn.Module, name: str, thing: Any, ids: Tensor, kept: Any, at: int) -> Last | None:
    """Return the logits of the last id where so many ids came before."""
    return _last(module, name, {**flags(thing), **starts(thing)(at)}, ids, kept, alone=True)


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
