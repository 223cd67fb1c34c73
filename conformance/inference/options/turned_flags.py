"""The flags of a constructor in their other position: the class is bound anew, as if that were the default.

A right binding says nothing of what a flag does that it leaves alone. Where a flag turns something on, and what is
computed then is a known mistake, the option is broken; where it is the textbook again, the flag has been judged as far
as a binding judges. What equals neither stays what it was: not tried. A flag that turns something off may leave out on
purpose what a mistake leaves out by accident, so that only those are turned off of which the textbook has both sides.
"""

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from attnconf.conformance.chapters.contents import named
from attnconf.conformance.inference.building.building import having_default
from attnconf.conformance.inference.options.idle_arguments import HINT, documented
from attnconf.conformance.inference.state.kept_state import UNTRIED
from attnconf.conformance.inference.trials.binding import Bound, Refusal
from attnconf.conformance.inference.trials.budgets import FLAGS_TURNED, GUESSED
from attnconf.conformance.inference.trials.probing import search
from attnconf.conformance.inference.words.vocabulary import snake
from attnconf.conformance.source.signatures import parameters_of

LEAVES_OUT = r"(no|non|not|without|un|disable|skip|drop|raw|only|identity|ablat\w*|zero|share|tied?|random|omit)_?.*"
BOTH_SIDES = (
    r"(is_?)?causal|bidirectional|(is_?|use_?)?gated|(include|with|keep|append)_?(the_?)?(inputs?|x|raw|identity)|"
    r"((elementwise_?)?affine|bias)"
)
SIDE_BY_SIDE = r"(is_?|use_?)?parallel_?(residual|attn|attention|blocks?|sub_?layers?|mlp|formulation)"
PROMISES = r"(is_?|use_?)?(learn(ed|t|able)|trainable)(_?(pos(itions?|itional)?|pe|embeddings?))?"
# Flags without which something is left out that a mistake would leave out: another sequence, the scale.
TURNS_ON = (
    r"(is_?|use_?|with_?)?(cross(_?att\w*)?|enc(oder)?_?dec(oder)?(_?att\w*)?|memory)|"
    r"(use_?|with_?|apply_?)?(scaled?|scaling)(_?scores|_?att\w*)?"
)
TURNS_OFF = r"(is_?)?self_?att(entio)?n"  # with it, another sequence is not read
BESIDES = r"((use|with|add)_?)?(cls|class)(_?tok(en)?)?"  # one token more, of which no page speaks
UNIT = r"(^|_)(l2|unit|normali[sz]ed?)(_?norm|_|$)"  # rows of length 1 are what such a flag asks for
IDLE_PARAMETER = r"^the parameters? .* (is|are) never applied$"
SAID = "nobody says so"  # of a mistake that is none where something says so, as an option may
Again = Callable[[], Bound | Refusal]


def with_flags_turned(thing: Any, bound: Bound | Refusal, again: Again) -> Bound | Refusal:
    """Return the binding with a word on each flag that is broken where it is turned; ``again`` binds the class anew."""
    if isinstance(bound, Refusal) or bound.certified is None:
        return _without_besides(thing, bound, again)
    if bound.certified != "reference":
        return _turned_on(thing, bound, again)
    if bound.place.in_arrays:
        return bound
    for name, value in list(_flags(bound))[:FLAGS_TURNED]:
        with having_default(bound.place.thing, name, value), search.limited(GUESSED):
            other = again()
        if not isinstance(other, Bound):
            continue
        more = [words for words in other.open_ends if words not in bound.open_ends]
        if other.established and not more:
            bound = _told(bound, other, name, value)
        elif other.established and value and all(re.search(IDLE_PARAMETER, words) for words in more):
            bound = _without_effect(bound, more, name)
        elif not other.established:
            bound = _with_promise(bound, name, value)
    return _one_after_the_other(bound)


def _one_after_the_other(bound: Bound) -> Bound:
    """Return the binding with a word on an entry that says that branches stand side by side, where they do not."""
    entry = re.search(rf"\b(?P<name>{SIDE_BY_SIDE})=True\b", bound.draft.body)
    placed = str(bound.draft.declares.get("norm-order", ""))
    if entry is None or not bound.draft.component.startswith("encoder") or placed.startswith("parallel"):
        return bound
    words = f"`{entry['name']}` is True, and has no effect: one sublayer reads the other"
    return replace(bound, told=(*bound.told, f"option       {words}"), broken=(*bound.broken, words))


def _turned_on(thing: Any, bound: Bound, again: Again) -> Bound:
    """Return the binding with a flag without which something is left out by its name, if that is the textbook."""
    for p in parameters_of(thing) if inspect.isclass(thing) else ():
        pattern = {False: TURNS_ON, True: TURNS_OFF}[p.default] if isinstance(p.default, bool) else ""
        if pattern and re.fullmatch(pattern, snake(p.name)):
            with having_default(thing, p.name, value=not p.default), search.limited(GUESSED):
                other = again()
            if isinstance(other, Bound) and other.certified == "reference":
                return _given(other, f"{other.place.name_in_text}(", p.name, value=not p.default)
    return bound


def _without_besides(thing: Any, bound: Bound | Refusal, again: Again) -> Bound | Refusal:
    """Return the binding without what a class adds besides, if that is the textbook; it stays untried."""
    for p in parameters_of(thing) if inspect.isclass(thing) else ():
        if p.default is True and re.fullmatch(BESIDES, snake(p.name)):
            with having_default(thing, p.name, value=False), search.limited(GUESSED):
                other = again()
            if isinstance(other, Bound) and other.certified == "reference":
                return _given(other, f"{other.place.name_in_text}(", p.name, value=False)
    return bound


def _given(bound: Bound, call: str, name: str, value: bool) -> Bound:
    """Return a binding whose class is built with one argument more."""
    body = bound.draft.body.replace(call, f"{call}{name}={value}, ")
    told = (*bound.told, f"left alone   {name}: judged where it is {value}")
    return replace(bound, draft=replace(bound.draft, body=body), told=told)


def _told(bound: Bound, other: Bound, name: str, value: bool) -> Bound:
    untried = tuple(one for one in bound.untried if one != name)
    told = _with_untried(bound.told, untried)
    if other.certified == "reference":
        told.append(f"turned       {name}: the textbook where it is {value}, too")
        more: tuple[str, ...] = (
            *(f"{words}, where `{name}` is {value}" for words in other.broken if words not in bound.broken),
            *(f"the argument `{one}` of the constructor is not heeded, where `{name}` is {value}"
              for one in _unheeded(other) if one not in _unheeded(bound)),
        )  # fmt: skip
        if re.fullmatch(SIDE_BY_SIDE, snake(name)) and other.draft.declares == bound.draft.declares:
            more += (
                f"the argument `{name}` of the constructor has no effect: one sublayer reads the other either way",
            )
        told += [f"option       {words}" for words in more]
        tried = [one for one in bound.open_ends if one.endswith(UNTRIED) and one not in other.open_ends]
        told = [line for line in told if not line.endswith(tuple(tried))] if tried else told
        left = tuple(words for words in bound.open_ends if words not in tried)
        return replace(bound, untried=untried, told=tuple(told), broken=(*bound.broken, *more), open_ends=left)
    mistake = named(str(other.certified))
    if _call(other) != _call(bound):  # an option changes what is computed, not how it is called
        return _with_promise(bound, name, value)
    if re.search(UNIT, snake(name)) and "length 1" in mistake.story:
        return bound  # it does what its name says, of which no page speaks
    if SAID in mistake.story and "~" not in mistake.id:
        return bound
    words = f"the argument `{name}` of the constructor is broken where it is {value}: {mistake.story}"
    return replace(bound, untried=untried, told=(*told, f"option       {words}"), broken=(*bound.broken, words))


def _without_effect(bound: Bound, idle: Sequence[str], name: str) -> Bound:
    """Return the binding with a word on parameters that are there where a flag is on, and are never applied."""
    words = [f"{one}, where `{name}` is True" for one in idle]
    untried = tuple(one for one in bound.untried if one != name)
    told = (*_with_untried(bound.told, untried), *(f"option       {one}" for one in words))
    return replace(bound, untried=untried, told=told, broken=(*bound.broken, *words))


def _with_untried(told: Sequence[str], untried: Sequence[str]) -> list[str]:
    """Return lines on a binding with the options in them that were not tried."""
    others = [line for line in told if not line.startswith("not tried    ")]
    return [*others, *([f"not tried    {', '.join(untried)}"] if untried else [])]


def _unheeded(bound: Bound) -> list[str]:
    """Return the argument for a network's activation where it is not heeded: a binding hands it over, to show it."""
    asked = re.findall(r"(\w+)=chosen\(\{[^}]*\}, config\.activation\)", bound.draft.body)
    return asked if bound.draft.component == "feed_forward" else []


def _with_promise(bound: Bound, name: str, value: bool) -> Bound:
    """Return the binding with an open end, where the name of a flag says what is computed, and something else is."""
    if not re.fullmatch(PROMISES, snake(name)):
        return bound
    words = f"the argument `{name}` of the constructor does something that is not understood, where it is {value}"
    return replace(bound, open_ends=(*bound.open_ends, words))


def _call(bound: Bound) -> list[str]:
    return [line for line in bound.told if line.startswith("forward ")]


def _flags(bound: Bound) -> Iterator[tuple[str, bool]]:
    """Yield the flags that a binding leaves at their defaults, with the other value."""
    thing = bound.place.thing
    for p in parameters_of(thing) if inspect.isclass(thing) else ():
        plain = snake(p.name)
        if not isinstance(p.default, bool) or f"{p.name}=" in bound.draft.body or re.fullmatch(HINT, p.name):
            continue
        turns_on = not p.default and not re.fullmatch(LEAVES_OUT, plain)
        if (turns_on or re.fullmatch(f"{BOTH_SIDES}|{SIDE_BY_SIDE}", plain)) and not documented(bound.place, p.name):
            yield p.name, not p.default
