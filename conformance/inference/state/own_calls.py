"""Calls that go on with what calls before them left, until a method of the object begins anew.

Parts of a sequence that are handed over one after the other have to come out as the whole does. Where they do, and
calls go on from the first on, the binding lets the method begin anew before each call. Methods are found by what they
do: after them the same parts give the same again, and each depends on those before.
"""

import copy
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.state.by_steps import begins, public
from attnconf.conformance.inference.state.kept_state import DIFFERS, SEVERAL, flags
from attnconf.conformance.inference.state.said_of_caches import as_promised
from attnconf.conformance.inference.state.stepped import Stepped, another, sequences, with_another_first
from attnconf.conformance.inference.state.stepping import looks_back_alone, several_differ
from attnconf.conformance.inference.trials.binding import Bound, Place
from attnconf.conformance.inference.trials.calling import call_of
from attnconf.conformance.inference.trials.claims import said_in_file
from attnconf.conformance.inference.trials.probing import Failed, attempt
from attnconf.conformance.inference.trials.spied import calls_as
from attnconf.conformance.inference.trials.trial import reply, same_numbers

SPOKEN = (
    r"cach|stream|decod|incremental|\bpieces?\b|\bchunks?\b|\bsince\b|\bso far\b|\bcontinu|\bgo(es)? on\b|\bremember"
)


@dataclass(frozen=True)
class GoesOn:
    """How calls go on after a method: what is wrong with it, and whether they do without that method, too."""

    begin: str
    words: str
    always: bool


def begun_before_each(bound: Bound, asked: Request) -> tuple[Bound, list[str]]:
    """Return the binding such that each call of an object that goes on begins anew, and words on what does not."""
    thing = bound.place.thing
    names = (
        [n for n, m in public(thing, call_of(thing).__name__).items() if begins(m)] if isinstance(thing, type) else []
    )
    if not names:
        return bound, []
    found: list[GoesOn] = []
    asking = [True]

    def called(function: Callable[..., Any], described: Any, *args: Any, **kwargs: Any) -> Any:
        if asking:
            asking.clear()
            (_, module), *rest = inspect.signature(described).bind_partial(*args, **kwargs).arguments.items()
            new = copy.deepcopy(module)
            with suppress(Failed):
                found.extend(attempt(lambda: list(_ways(new, function, dict(rest), names))))
        return function(*args, **kwargs)

    with calls_as(bound.place, called):
        reply(bound.draft.implementation(bound.place.module), asked)
    wrong = [words for words in (_said(bound.place, one) for one in found) if words]
    begin = next((one.begin for one in found if one.always and not one.words), "")
    if begin and not wrong:
        told = f"calls        each after {begin}(), as they go on with those before; parts give what the whole gives"
        bound = bound.called_through(f"anew(module.{begin}, call)", told)
    return bound, wrong[:1]


def _said(place: Place, one: GoesOn) -> str:
    """Return words on calls that do not go on as the whole, if somebody says that they go on."""
    told = " ".join(said_in_file(place.module))
    if not one.words or not re.search(SPOKEN, told, re.IGNORECASE):
        return ""
    if one.words == SEVERAL and as_promised(place, SEVERAL, told) != SEVERAL:
        return ""
    return f"a call after `{one.begin}` {one.words}"


def _ways(module: Any, function: Callable[..., Any], given: Mapping[str, Any], names: list[str]) -> Iterator[GoesOn]:
    """Yield how calls go on after each method after which they do; none where the whole does not look back alone."""
    if not sequences(given):
        return
    first = next(iter(given))
    one = {n: another(y, n) for n, y in given.items()}
    keeping = {name: on for name, on in flags(function).items() if not one.get(name)}

    def whole(asked: Mapping[str, Any]) -> Any:
        return function(copy.deepcopy(module), **asked)

    at_once = Stepped(whole, partial(function, module), (), first)
    want = at_once.whole(one)
    if not looks_back_alone(at_once, one, want):
        return
    for name, more in product(names, ({}, keeping) if keeping else ({},)):
        begun = copy.deepcopy(module)
        stepped = replace(at_once, step=partial(function, begun, **more), begin=[getattr(begun, name)])
        with suppress(Failed):
            words = attempt(lambda stepped=stepped: _of(stepped, one, want))  # type: ignore[misc]
            if words is not None:
                yield GoesOn(name, words, not more and _always(module, function, one, stepped, want))


def _of(stepped: Stepped, given: Mapping[str, Any], want: Any) -> str | None:
    """Return a word on parts that come one after the other, "" where they are the whole; None: they do not go on."""
    x = given[stepped.first]
    outs = stepped.stepwise(given)
    changed = stepped.stepwise({**given, stepped.first: with_another_first(x)})
    if not same_numbers(outs[:, :1], want[:, :1]) or same_numbers(changed[:, 1:], outs[:, 1:]):
        return None
    if not same_numbers(stepped.stepwise(given), outs):
        return None  # it does not begin anew
    if not same_numbers(outs, want):
        return f"{DIFFERS}: a later position is not what it is in the whole"
    return SEVERAL if several_differ(stepped, given, want) else ""


def _always(module: Any, function: Callable[..., Any], given: Mapping[str, Any], stepped: Stepped, want: Any) -> bool:
    """Return whether a second call of a new object goes on with the first, and after the method does not."""
    fresh = copy.deepcopy(module)
    again = Stepped(lambda asked: function(fresh, **asked), stepped.step, (), stepped.first)
    first, second = (_or_none(again, given) for _ in range(2))
    getattr(fresh, stepped.begin[0].__name__)()
    third = _or_none(again, given)
    return all(x is not None and same_numbers(x, want) for x in (first, third)) and (
        second is None or not same_numbers(second, want)
    )


def _or_none(stepped: Stepped, given: Mapping[str, Any]) -> Any:
    try:
        return attempt(lambda: stepped.whole(given))
    except Failed:
        return None
