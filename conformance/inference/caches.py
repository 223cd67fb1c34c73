"""What an argument for a cache does: handed what calls keep, or an object to keep it in, it continues a sequence."""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain
from typing import Any

from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.inference.angle_names import kind_of
from attnconf.conformance.inference.calling import POSITIONS, THREE, parameters
from attnconf.conformance.inference.kept_objects import kept_objects
from attnconf.conformance.inference.kept_state import (
    DIFFERS,
    EMPTY,
    LONG,
    RETURNED,
    UNTRIED,
    Came,
    Rows,
    best,
    continued,
    flags,
    kept_dicts,
    places,
)
from attnconf.conformance.inference.probing import found_output
from attnconf.conformance.inference.said_of_caches import as_promised
from attnconf.conformance.inference.trial import drawn, reply, same
from attnconf.conformance.inference.tried import Tried
from attnconf.conformance.inference.vocabulary import INPUTS, meanings, snake


def cache(tried: Tried) -> str:
    """Return what is wrong with a cache: it has to make further tokens what they are in the whole.

    It is what a call returns, or an object or dict into which calls write; one that is neither is not tried. Where
    query, key and value are handed apart, it may also keep those of a memory that stays.
    """
    x = next(iter(tried.asked.inputs.values()))
    found = parameters(tried.bound.place.thing)
    absent = {p.name: None for p in found if p.default is None and "memory" in meanings(p.name, INPUTS)}
    itself = len(tried.asked.inputs) == 1 or (absent and set(tried.asked.inputs) <= set(THREE))
    embeds = "handed(" in tried.bound.draft.body or tried.bound.draft.component == "language_model"
    if embeds:  # one that may be left out is asked by kept_by_models.of_ids
        return "" if tried.argument.default is None else UNTRIED
    if x.ndim != 3 or not (itself or set(tried.asked.inputs) == set(THREE)):
        return UNTRIED
    told = _continued(tried, x, absent if len(tried.asked.inputs) > 1 else {})
    if not itself:
        return "" if not told.startswith((UNTRIED, DIFFERS)) or _keeps_a_memory(tried) else UNTRIED
    turned = any(kind_of(p.name) for p in found)  # perhaps it wants the tables of all, and takes its rows itself
    return UNTRIED if turned and told.startswith(DIFFERS) else as_promised(tried.bound.place, told)


def _continued(tried: Tried, x: Tensor, absent: Mapping[str, None]) -> str:
    """Return in which way tokens after a cache differ from those of the whole, as ``continued`` says it."""
    x = x if x.shape[1] >= LONG else drawn("a sequence with a cache", x.shape[0], LONG, x.shape[2])
    thing = tried.bound.place.thing
    more = {**flags(thing), **absent}
    tables = _tables(tried, x, more)
    if tables is None:
        return UNTRIED
    told = best(_ways(tried, x, more, tables))
    given = any(_is_positions(p.name) for p in parameters(thing))  # which may be wanted in a way that is not known
    return UNTRIED if given and told.startswith(DIFFERS) else told


def _is_positions(name: str) -> bool:
    return re.fullmatch(POSITIONS, snake(name).strip("_")) is not None


def _ways(tried: Tried, x: Tensor, more: Mapping[str, Any], tables: Rows) -> Iterator[str]:
    """Yield what ``continued`` says of each way to hand a cache over."""
    place, stacked = tried.bound.place, COMPONENTS[tried.bound.draft.component].stacked

    def call(told: Rows, part: Tensor, kept: Any, at: int) -> Came | None:
        return _came(tried, part, kept, {**more, **told(at, part.shape[1]), **tables(at, part.shape[1])})

    for told in places(place.thing):
        yield from (continued(partial(call, told), x, new, returned=True) for new in EMPTY)
        if stacked:  # below, tokens see those behind them
            continue
        objects = kept_objects(tried.argument.annotation, place.module, tried.asked.config, len(x))
        dicts = kept_dicts(lambda written, told=told: call(told, x, written, 0))  # type: ignore[misc]
        yield from (continued(partial(call, told), x, new, returned=False) for new in chain(objects, dicts))


def _came(tried: Tried, x: Tensor, kept: Any, given: Mapping[str, Any]) -> Came | None:
    """Return what comes back of tokens; None where no output is among it."""
    asked = tried.asked.asked(inputs=dict.fromkeys(tried.asked.inputs, x), out_shape=tuple(x.shape))
    _, seen = tried.given(kept, asked, **given)
    where = found_output(seen.returned, tuple(x.shape))
    return None if where is None else Came(eval(where, {"result": seen.returned}).detach(), seen.returned, seen.calls)


def _tables(tried: Tried, x: Tensor, more: Mapping[str, Any]) -> Rows | None:
    """Return what gives the tables of angles of some tokens, by name: rows of those of all; None where none are found.

    They are those that the binding hands over for the whole, which begins at the first position.
    """
    names = [p.name for p in parameters(tried.bound.place.thing) if kind_of(p.name)]
    if not names:
        return lambda at, tokens: {}
    asked = tried.asked.asked(inputs=dict.fromkeys(tried.asked.inputs, x), out_shape=tuple(x.shape))
    _, seen = tried.given(None, asked, **more)
    given = {name: seen.given[1].get(name) for name in names}
    if not all(any(x.shape[1] in t.shape for t in tree_leaves(value)) for value in given.values()):
        return None

    def rows(t: Tensor, at: int, tokens: int) -> Tensor:
        return t.narrow(t.shape.index(x.shape[1]), at, tokens) if x.shape[1] in t.shape else t

    return lambda at, tokens: {n: tree_map(lambda t: rows(t, at, tokens), value) for n, value in given.items()}


def _keeps_a_memory(tried: Tried) -> bool:
    """Return whether what one call keeps of keys and values serves another query as well as they do."""
    asked, more = tried.asked, flags(tried.bound.place.thing)
    query = asked.inputs["query"]
    later = asked.asked(inputs={**asked.inputs, "query": drawn("a later query", *query.shape).to(query.dtype)})
    want = reply(tried.bound.draft.implementation(tried.bound.place.module), later)
    written: dict[Any, Any] = {}
    _, seen = tried.given(written, asked, **more)
    kept = [written] if written else []
    if not kept:
        _, seen = tried.given(None, asked, **more)
        several = isinstance(seen.returned, tuple | list) and len(seen.returned) > 1
        kept = [pick(seen.returned, None) for pick in RETURNED] if several else []
    return any(same(tried.given(one, later, **more)[0], want) for one in kept)
