"""What an argument for a cache does: handed what calls keep, or an object to keep it in, it continues a sequence."""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.building.kept_objects import (
    kept_objects,
    made_by_functions,
    made_by_methods,
    made_of_sizes,
)
from attnconf.conformance.inference.state.kept_state import (
    DIFFERS,
    EMPTY,
    LONG,
    NOT_ANEW,
    RETURNED,
    UNTRIED,
    Came,
    Rows,
    best,
    containers,
    continued,
    flags,
    is_positions,
    keys_and_values,
    places,
)
from attnconf.conformance.inference.state.said_of_caches import as_promised
from attnconf.conformance.inference.trials.calling import CACHE, THREE, parameters
from attnconf.conformance.inference.trials.probing import Failed, attempt, found_output
from attnconf.conformance.inference.trials.spied import calls_as
from attnconf.conformance.inference.trials.trial import drawn, reply, same, why
from attnconf.conformance.inference.trials.tried import Tried
from attnconf.conformance.inference.words.angle_names import kind_of
from attnconf.conformance.inference.words.vocabulary import INPUTS, meanings, snake


def cache(tried: Tried) -> str:
    """Return what is wrong with a cache: it has to make further tokens what they are in the whole.

    It is what a call returns, or an object or dict into which calls write; one that is neither is not tried. Where
    query, key and value are handed apart, it may also keep those of a memory that stays; a decoder's memory stays.
    """
    x = next(iter(tried.asked.inputs.values()))
    found = parameters(tried.bound.place.thing)
    decodes = tried.bound.draft.component == "decoder_layer"
    absent: dict[str, None] = {} if decodes else dict.fromkeys(_of_memory(tried))
    itself = len(tried.asked.inputs) == 1 or decodes or (absent and set(tried.asked.inputs) <= set(THREE))
    embeds = "handed(" in tried.bound.draft.body or tried.bound.draft.component == "language_model"
    if embeds:  # one that may be left out is asked by kept_by_models.of_ids
        return "" if tried.argument.default is None else UNTRIED
    if x.ndim != 3 or not (itself or set(tried.asked.inputs) == set(THREE)):
        return UNTRIED
    told = _continued(tried, x, absent if len(tried.asked.inputs) > 1 else {})
    if decodes and told.startswith(DIFFERS) and told != NOT_ANEW and not _keeps_tokens(tried, x):
        return UNTRIED  # perhaps it is for the memory alone
    if not itself:
        return "" if not told.startswith((UNTRIED, DIFFERS)) or _keeps_a_memory(tried) else UNTRIED
    turned = any(kind_of(p.name) for p in found)  # perhaps it wants the tables of all, and takes its rows itself
    return UNTRIED if turned and told.startswith(DIFFERS) else as_promised(tried.bound.place, told)


def _keeps_tokens(tried: Tried, x: Tensor) -> bool:
    """Return whether something comes back beside the output that has as many tokens."""
    more: dict[str, Any] = flags(tried.bound.place.thing)
    _, seen = tried.given(None, **more)
    _, *others = [y for y in tree_leaves(seen.returned) if isinstance(y, Tensor)]
    return any(x.shape[1] in y.shape[1:-1] for y in others)


def _of_memory(tried: Tried) -> list[str]:
    """Return the arguments that may be left out, and are called after a memory or are handed one."""
    _, seen = tried.given(None)
    handed = [x for role, x in tried.asked.inputs.items() if role != "query"]
    absent = [p.name for p in parameters(tried.bound.place.thing) if p.default is None]
    given = {
        name for name, y in seen.given[1].items() if any(_is(y, z) for x in handed for z in (x, x.transpose(0, 1)))
    }
    return [name for name in absent if name in given or "memory" in meanings(name, INPUTS)]


def _is(given: Any, x: Tensor) -> bool:
    return isinstance(given, Tensor) and given.shape == x.shape and given.equal(x)


def _continued(tried: Tried, x: Tensor, absent: Mapping[str, None]) -> str:
    """Return in which way tokens after a cache differ from those of the whole, as ``continued`` says it."""
    x = x if x.shape[1] >= LONG else drawn("a sequence with a cache", x.shape[0], LONG, x.shape[2])
    thing = tried.bound.place.thing
    more = {**flags(thing), **absent}
    tables = _tables(tried, x, more)
    if tables is None:
        return UNTRIED
    told = best(_ways(tried, x, more, tables))
    named = re.fullmatch(CACHE, snake(tried.argument.name))  # else it may take something else that comes back
    if told == UNTRIED and named and not absent and not tables(0, 1):
        told = _refused(tried, x, more) or told
    given = any(is_positions(p.name) for p in parameters(thing))  # which may be wanted in a way that is not known
    return UNTRIED if given and told.startswith(DIFFERS) else told


def _refused(tried: Tried, x: Tensor, more: Mapping[str, Any]) -> str:
    """Return a word on keys and values that came back, and cannot be handed in again; "" if they can."""
    _, seen = tried.given(None, _of_tokens(tried, x[:, :-1]), **more)
    pairs = [y for y in seen.returned if keys_and_values(y)] if isinstance(seen.returned, tuple | list) else []
    for pair in pairs[:1]:
        after, _ = tried.given(pair, _of_tokens(tried, x[:, -1:]), **more)
        if isinstance(after, Failure) and after.reason == "raised" and after.at and not after.meant:
            return f"{DIFFERS}: handed what came back, it raises {why(after)}"
    return ""


def _ways(tried: Tried, x: Tensor, more: Mapping[str, Any], tables: Rows) -> Iterator[str]:
    """Yield what ``continued`` says of each way to hand a cache over."""
    place, stacked = tried.bound.place, COMPONENTS[tried.bound.draft.component].stacked
    captured = None if stacked else _captured(tried)
    given = captured.given if captured else {}
    sized = [] if stacked else made_of_sizes(place.module, tried.asked.config, len(x), given)
    begins = (*EMPTY, *made_by_functions(place.module), *sized)
    owners = None if "memory" in tried.asked.inputs else (*(captured.owner if captured else ()), place.module)

    def call(told: Rows, part: Tensor, kept: Any, at: int) -> Came | None:
        return _came(tried, part, kept, _given(more, told, tables, at, part.shape[1]))

    for told in places(place.thing):
        yield from (continued(partial(call, told), x, new, returned=True, owners=owners) for new in begins)
        if stacked:  # below, tokens see those behind them
            continue
        objects = kept_objects(tried.argument.annotation, place.module, tried.asked.config, len(x))
        yield from (continued(partial(call, told), x, new, returned=False, owners=owners) for new in objects)
        again = partial(_by_one, tried, captured, partial(_given, more, told, tables))
        made = list(made_by_methods(captured.owner[0], len(x))) if captured and captured.owner else []
        found = containers(lambda written, again=again: again(x, written, 0))  # type: ignore[misc]
        yield from (continued(again, x, new, returned=False, owners=owners) for new in (*made, *found))
        yield from (continued(again, x, new, returned=True, owners=owners) for new in made)


def _came(tried: Tried, x: Tensor, kept: Any, given: Mapping[str, Any]) -> Came | None:
    """Return what comes back of tokens; None where no output is among it."""
    _, seen = tried.given(kept, _of_tokens(tried, x), **given)
    where = found_output(seen.returned, tuple(x.shape))
    return None if where is None else Came(eval(where, {"result": seen.returned}).detach(), seen.returned, seen.calls)


def _of_tokens(tried: Tried, x: Tensor) -> Request:
    """Return the request with some tokens for its own; a decoder's memory stays."""
    inputs = {role: y if role == "memory" else x for role, y in tried.asked.inputs.items()}
    return tried.asked.asked(inputs=inputs, out_shape=tuple(x.shape))


@dataclass(frozen=True)
class Captured:
    """A call of one object, or of a function: what was called, and what it was given, by name."""

    function: Callable[..., Any]
    owner: tuple[Any, ...]
    given: Mapping[str, Any]


def _captured(tried: Tried) -> Captured | None:
    """Return the last call that the binding makes of an object, which is called again: dicts have its parts as keys.

    None where several objects are called, or with other arguments.
    """
    held: list[Captured] = []
    owned = isinstance(tried.bound.place.thing, type)

    def called(function: Callable[..., Any], described: Any, *args: Any, **kwargs: Any) -> Any:
        names = dict(inspect.signature(described).bind_partial(*args, **kwargs).arguments)
        held.append(Captured(function, args[:1] if owned else (), dict(list(names.items())[owned:])))
        return function(*args, **kwargs)

    with calls_as(tried.bound.place, called):
        reply(tried.bound.draft.implementation(tried.bound.place.module), tried.asked)
    return held[-1] if held and len({(id(h.owner[0]) if h.owner else 0, *h.given) for h in held}) == 1 else None


def _given(more: Mapping[str, Any], told: Rows, tables: Rows, at: int, tokens: int) -> dict[str, Any]:
    """Return what a call gets besides: what stays, and what some tokens behind others want."""
    return {**more, **told(at, tokens), **tables(at, tokens)}


def _by_one(tried: Tried, captured: Captured | None, told: Rows, x: Tensor, kept: Any, at: int) -> Came | None:
    """Return what comes back of tokens, of one and the same object; None where no output is among it."""
    if captured is None:
        return None
    whole = [z for role, z in tried.asked.inputs.items() if role != "memory"]
    first = not any(_is(y, z.transpose(0, 1)) for y in captured.given.values() for z in whole)  # samples, or tokens
    x = x if first else x.transpose(0, 1)
    inputs = {n: x for n, y in captured.given.items() if any(_is(y, z if first else z.transpose(0, 1)) for z in whole)}
    if not inputs:
        return None
    given = {**captured.given, **inputs, **told(at, x.shape[int(first)]), tried.argument.name: kept}
    try:
        returned = attempt(lambda: captured.function(*captured.owner, **given))
    except Failed:
        return None
    where = found_output(returned, tuple(x.shape))
    if where is None:
        return None
    out = eval(where, {"result": returned}).detach()
    return Came(out if first else out.transpose(0, 1), returned)


def _tables(tried: Tried, x: Tensor, more: Mapping[str, Any]) -> Rows | None:
    """Return what gives the tables of angles of some tokens, by name: rows of those of all; None where none are found.

    They are those that the binding hands over for the whole, which begins at the first position.
    """
    names = [p.name for p in parameters(tried.bound.place.thing) if kind_of(p.name)]
    if not names:
        return lambda at, tokens: {}
    _, seen = tried.given(None, _of_tokens(tried, x), **more)
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
