"""Arguments that a binding leaves out: what is broken is not absent, and fails where it is asked for.

Each argument of a call that the binding hands nothing to is handed what its name promises to take. Where this raises,
or changes nothing, the binding's "not supported" becomes an error with these words. What has no requirement of its own
is a line of the header, and the verdict is incomplete.
"""

import inspect
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from attnconf.conformance.chapters.contents import appearances
from attnconf.conformance.diagnosis.broken_argument import IDLE
from attnconf.conformance.engine.binding_text import sentence
from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Reply, Request
from attnconf.conformance.inference.building.defaults import broken_defaults, idle_axes, idle_dropout
from attnconf.conformance.inference.building.kept_objects import makes_what_is_kept
from attnconf.conformance.inference.masks.masking import NOBODYS
from attnconf.conformance.inference.masks.masks_in_numbers import in_numbers
from attnconf.conformance.inference.masks.shared_biases import NO_BIAS
from attnconf.conformance.inference.masks.switches import UNTIL
from attnconf.conformance.inference.options.for_inference import without_gradients
from attnconf.conformance.inference.options.idle_arguments import HINT, counts, documented
from attnconf.conformance.inference.options.losses import of_loss
from attnconf.conformance.inference.options.option_trials import DOES, TRIALS
from attnconf.conformance.inference.options.other_settings import broken as settings
from attnconf.conformance.inference.options.promised import (
    ANOTHER,
    Finding,
    drops,
    refused_by,
    role_for,
    role_of,
)
from attnconf.conformance.inference.options.untrained import of_untrained
from attnconf.conformance.inference.state.growing_tables import of_growth
from attnconf.conformance.inference.state.kept_memories import of_memories
from attnconf.conformance.inference.state.kept_state import containers, keys_and_values
from attnconf.conformance.inference.state.kept_values import of_masks, of_old_weights
from attnconf.conformance.inference.state.own_calls import begun_before_each
from attnconf.conformance.inference.state.said_of_caches import NOT_SAID, ONE_ALONE
from attnconf.conformance.inference.state.stepping import of_steps
from attnconf.conformance.inference.trials.binding import Bound, Place
from attnconf.conformance.inference.trials.calling import call_of, parameters
from attnconf.conformance.inference.trials.spied import Seen, spied, unread
from attnconf.conformance.inference.trials.trial import reply, why
from attnconf.conformance.inference.trials.tried import Tried
from attnconf.conformance.inference.words.records import entries_of, own_record
from attnconf.conformance.inference.words.vocabulary import INPUTS, meanings, snake
from attnconf.conformance.source import source_text
from attnconf.conformance.source.source_text import code_reached
from attnconf.conformance.source.stored import stored_alone

WEIGHTS = r"(att(entio)?n_?)?(weights?|prob(abilitie)?s?|scores|maps?)"  # what no output is called
FEWER = r"(n|num)_?(kv|key_?value)_?heads?|kv_?heads?|(n|num)_?groups"  # no size that a binding knows


def with_broken(bound: Bound, asked: Request) -> Bound:
    """Return the binding such that a broken argument fails where it is asked for; ``asked``: a call that succeeds.

    What is not established is judged by laws that need no options.
    """
    if not bound.established or bound.place.in_arrays or not callable(bound.place.thing):
        return bound
    bound, goes_wrong = begun_before_each(without_gradients(bound), asked)
    with spied(bound.place) as seen:
        base = reply(bound.draft.implementation(bound.place.module), asked)
    if not seen.calls:  # a function that is made in each construction: nobody can look into its calls
        return bound
    left = [p for p in parameters(bound.place.thing) if _is_left(p, seen.names)]
    dead = unread(call_of(bound.place.thing))
    found = [*_of_call(bound, asked, base, left, dead, _came(seen)), *_of_flags(bound, asked), *_of_constructor(bound)]
    goes_on: list[str] = []  # arguments of which nothing is wrong
    found += _of_state(bound, asked, base, [p for p in left if role_of(p) in ("", "memory")], seen, goes_on)
    found += [] if isinstance(base, Failure) else _of_defaults(bound, asked, base, seen)
    found += [
        Finding(name, what, of=_whose(bound, name), role="setting") for name, what in settings(bound, asked, base)
    ]
    body, told, open_ends = bound.draft.body, list(bound.told), list(bound.open_ends)
    for one in found:
        told = [line for line in told if not re.match(rf"left alone   {one.name}\b", line)]
        open_ends += [one.words] if one.open else []
        for what in one.refused:
            body = body.replace(f'NotImplementedError("{what}")', f"BrokenArgument({sentence(one.words)!r})")
    said = {line.split()[2].partition("=")[0] for line in told if line.startswith("left alone")}
    told_of = said | {one.name for one in found} | set(goes_on)
    untried = tuple(name for name in (*_not_tried(bound), *_not_handed(bound, left, dead)) if name not in told_of)
    broken = (*goes_wrong, *(one.words for one in found if one.broken), *exchanged(seen.returned, base))
    broken += (*of_old_weights(bound, asked), *of_masks(bound, asked), *in_numbers(bound, asked))
    kept, unclear = of_memories(bound, asked)
    broken += (*kept, *of_growth(bound, asked), *of_steps(bound, asked), *of_loss(bound, asked))
    broken += tuple(of_untrained(bound, asked))
    open_ends += unclear
    told += [f"option       {one.words}" for one in found]
    told += [f"not tried    {', '.join(untried)}"] if untried else []
    declares, profile = dict(bound.draft.declares), bound.profile
    if any(ANOTHER in one.refused for one in found) and declares.get("inputs") == "self":
        declares, profile = {c: choice for c, choice in declares.items() if c != "inputs"}, None
    draft = replace(bound.draft, body=body, declares=declares)
    bound = replace(bound, broken=(*bound.broken, *broken), untried=untried)
    return replace(bound, draft=draft, profile=profile, told=tuple(told), open_ends=tuple(open_ends))


def _whose(bound: Bound, name: str) -> str:
    place = bound.place
    builds = rf"module = .*\b{re.escape(place.name_in_text)}\("  # a function that does is called as a constructor is
    if not isinstance(place.thing, type) and re.search(builds, bound.draft.body):
        return "the constructor"
    return "forward" if name in {p.name for p in parameters(place.thing)} else "the constructor"


def exchanged(returned: Any, base: Reply | Failure) -> Iterator[str]:
    """Yield a word on an entry of what a call returned that is called weights, and holds the output."""
    named = returned if isinstance(returned, Mapping) else getattr(returned, "_asdict", dict)()
    out = None if isinstance(base, Failure) else base.out
    for name, x in named.items():
        if (
            re.fullmatch(WEIGHTS, str(name).lower())
            and isinstance(x, Tensor)
            and out is not None
            and torch.equal(x, out)
        ):
            yield f"the entry `{name}` of what comes back is the output"


def _is_left(p: inspect.Parameter, handed: Collection[str]) -> bool:
    """Return whether a parameter is left at its default."""
    return p.name not in handed and p.default is not p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)


def _of_call(
    bound: Bound, asked: Request, base: Reply | Failure, left: Sequence[inspect.Parameter], dead: Collection[str],
    came: bool,
) -> Iterator[Finding]:  # fmt: skip
    """Yield what is wrong with the arguments of a call that are left at their defaults; ``came``: keys and values."""
    known = tuple(f"left alone   {{}}: {words}" for words in (UNTIL, NO_BIAS, NOBODYS))
    for p in left:
        if any(line.startswith(tuple(words.format(p.name) for words in known)) for line in bound.told):
            continue
        role = role_for(bound, p)
        role = "dropout" if drops(bound, p) else role
        refused = refused_by(bound, p.name, role)
        if p.name in dead and role != "dropout":
            if not documented(bound.place, p.name):
                kept = came and role == "cache"  # what comes back is there to be handed in
                yield Finding(p.name, IDLE, refused, role=role, counts=kept or counts(bound, p.name, role))
        elif role in TRIALS and (refused or role in ("cache", "dropout", "tiles")):
            what = TRIALS[role](Tried(bound, asked, base, p))
            if what:
                yield Finding(p.name, what, refused if what.startswith(DOES) else (), role=role)


def _of_state(
    bound: Bound,
    asked: Request,
    base: Reply | Failure,
    left: Sequence[inspect.Parameter],
    seen: Seen,
    goes_on: list[str],
) -> Iterator[Finding]:
    """Yield arguments of any name that take the keys and values of a call, and do not continue its sequence.

    They are those that come back, those that a call writes into what it is handed, or what a function or method makes.
    Those of which nothing is wrong are put into ``goes_on``.
    """
    if isinstance(base, Failure):
        return
    came = _came(seen) or makes_what_is_kept(bound.place)
    for tried in (Tried(bound, asked, base, p) for p in left if p.default is None):
        if not came and not any(True for _ in containers(tried.given)):
            continue
        p, what = tried.argument, TRIALS["cache"](tried)
        goes_on += [] if what else [p.name]
        if what.startswith("does not") or what in (ONE_ALONE, NOT_SAID):
            yield Finding(p.name, what, role="cache")


def _came(seen: Seen) -> bool:
    """Return whether keys and values came back."""
    return any(map(keys_and_values, seen.returned)) if isinstance(seen.returned, tuple | list) else False


def _not_handed(bound: Bound, left: Sequence[inspect.Parameter], dead: Collection[str]) -> Sequence[str]:
    """Return the options of a call that are read, and left at their defaults."""
    return [
        p.name
        for p in left
        if p.name not in dead
        and f"{p.name}=" not in bound.draft.body
        and not (role_for(bound, p) in TRIALS.keys() - {"tiles"} or documented(bound.place, p.name))
    ]


def _of_flags(bound: Bound, asked: Request) -> Iterator[Finding]:
    """Yield the flags of a call that raise in one of their positions; there may be a mask that they go with."""
    place = bound.place
    given = [p for p in parameters(place.thing) if isinstance(p.default, bool) and not re.fullmatch(HINT, p.name)]
    if any({"mask", "lengths"} & set(meanings(p.name, INPUTS)) for p in parameters(place.thing)):
        return
    for p in given:
        for value in (True, False):
            with spied(place, **{p.name: value}):
                answer = reply(bound.draft.implementation(place.module), asked)
            if isinstance(answer, Failure) and answer.reason == "raised" and not answer.meant and answer.at:
                yield Finding(p.name, f"raises, where it is {value}: {why(answer)}")


def _of_defaults(bound: Bound, asked: Request, base: Reply, seen: Seen) -> Iterator[Finding]:
    """Yield the arguments of a constructor that raise where they are left at their defaults, and idle ones."""
    for name, failure in broken_defaults(bound, asked, seen):
        yield Finding(name, f"raises, where it is left at its default: {why(failure)}", of="the constructor")
    for idle in (idle_dropout(bound, asked, base), idle_axes(bound, asked, base)):
        if idle:
            yield Finding(idle, IDLE, of="the constructor")


def _of_constructor(bound: Bound) -> Iterator[Finding]:
    """Yield the arguments of a constructor that its code never reads, or stores, if they are options, for nobody."""
    thing = bound.place.thing
    made = getattr(thing, "__init__", None) if isinstance(thing, type) else None
    text = source_text.text_of_module(bound.place.module)
    if getattr(made, "__module__", "") != bound.place.module.__name__:
        return
    options = {p.name for p in inspect.signature(thing).parameters.values() if isinstance(p.default, bool | str)}
    stored = [name for name in stored_alone(made, text.text if text else "") if name in options]
    for name in (*unread(made), *stored):
        if not documented(bound.place, name):
            yield Finding(name, IDLE, of="the constructor", counts=counts(bound, name))


def _not_tried(bound: Bound) -> Sequence[str]:
    """Return the options of a constructor that change what is computed, perhaps, and stay at their defaults."""
    thing = bound.place.thing
    offered = [*inspect.signature(thing).parameters.values()] if isinstance(thing, type) else []
    unread_ones = unread(thing.__init__)
    left = [p.name for p in offered if p.default is not p.empty and f"{p.name}=" not in bound.draft.body]
    left += [name for p in offered for name in _entries_left(bound, p)]
    return [
        name
        for name in left
        if re.fullmatch(FEWER, snake(name))
        or not (_known(bound, name) or name in unread_ones or re.fullmatch(HINT, name))
    ]


def _known(bound: Bound, name: str) -> bool:
    """Return whether a name means something, other than to other components alone: ``partial`` is one of rotary."""
    words = {component: known.words for component, known in appearances().items()}
    elsewhere = {meaning for known in words.values() for meaning in known} - set(words.get(bound.draft.component, ()))
    elsewhere |= {"dropout"} if appearances()[bound.draft.component].binder == "norms" else set()  # no norm drops
    return bool(set(meanings(name)) - elsewhere)


def _entries_left(bound: Bound, p: inspect.Parameter) -> Sequence[str]:
    """Return the entries of a record of the file, handed to a constructor, that it leaves at their defaults."""
    kind = own_record(p.annotation, bound.place.module)
    if kind is None or f"{kind.__name__}(" not in bound.draft.body:
        return []
    there = [entry for entry in entries_of(kind) if entry.optional]
    return [f.name for f in there if f"{f.name}=" not in bound.draft.body and _reads(bound.place, f.name)]


def _reads(place: Place, name: str) -> bool:
    return re.search(rf"\.{re.escape(name)}\b", code_reached(place.thing)) is not None


def with_guard_tried(bound: Bound, words: str, asked: Request, shown: str) -> Bound:
    """Return the binding such that what it refuses in these words fails, where the file's own code breaks in it.

    What the code itself refuses, by ``raise`` or ``assert``, is not offered. ``shown``: what was asked, for people.
    """
    guard = f'raise NotImplementedError("{words}")'
    free = replace(bound.draft, body=bound.draft.body.replace(guard, "pass"))
    given = reply(free.implementation(bound.place.module), asked)
    if not isinstance(given, Failure) or given.meant or given.reason in ("unsupported", "given up"):
        return bound
    broken = f"{shown}: {why(given)}"
    body = bound.draft.body.replace(guard, f"raise BrokenArgument({sentence(broken)!r})")
    return replace(bound, draft=replace(bound.draft, body=body), told=(*bound.told, f"option       {broken}"))
