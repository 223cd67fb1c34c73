"""What keeps the keys and values of a memory between calls: another memory has to get its own.

It is asked in each way in which it may keep them: with a flag of its call, after the methods that begin, and without
either, in evaluation and without gradients. What it gives for a first memory has to be what it gives without: else the
way is not understood. Methods that begin are called before the next memory. Without them a second memory of the same
shape counts where words say that it is noticed, or where nothing was asked to keep anything, nor can be to forget it.
"""

import copy
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.state.by_steps import begins, public, writes
from attnconf.conformance.inference.trials.binding import Bound, Place
from attnconf.conformance.inference.trials.calling import call_of
from attnconf.conformance.inference.trials.claims import said_in_file
from attnconf.conformance.inference.trials.probing import Failed, attempt
from attnconf.conformance.inference.trials.spied import calls_as
from attnconf.conformance.inference.trials.trial import drawn, reply, same_numbers
from attnconf.conformance.inference.words.vocabulary import snake

_WHAT = r"caches?|kv|state|memory|memories|source|sentence|sequence|keys?|past|static|decoding|incremental"
BEGIN = rf"(start|begin|reset|restart|clear|new|empty|forget|drop|flush)(_(the_)?({_WHAT})(_.*)?)?"
NOTICES = (
    r"\b(another|next|new|other|different|changed)\b[^.;]{0,30}"
    r"\b(memory|memories|source|sentence|batch|encoder|context)"
)
_NO_CALL = "".join(rf"(?<!\b{before} )" for before in ("from", "call to", "each", "every", "per", "last", "previous"))
ASKS = (  # somebody else
    rf"{_NO_CALL}\bcall\b|\b(must|needs?|has to|before|reset|clear|not|never|unless|caller|you|yourself)\b|n't\b"
)
NOT_ANEW = "does not begin anew: the next memory gets something of the keys or values of the one before"
OF_ANOTHER = "another memory of the same shape gets the keys and values of the one before"
UNASKED = "in evaluation and without gradients"
HAVE_MEMORY = ("multi_head_attention", "decoder_layer", "decoder")
FLAGS = 3  # of a call that are turned on


@dataclass(frozen=True)
class _Memories:
    """An object with the arguments of a call of it, which has a memory beside its first input."""

    module: nn.Module
    function: Callable[..., Any]
    given: Mapping[str, Any]

    @property
    def begins(self) -> list[str]:
        """The methods of its class that begin a sequence, and want nothing."""
        own = vars(type(self.module)).items()
        named = [n for n, m in own if inspect.isfunction(m) and re.fullmatch(BEGIN, snake(n))]
        return [n for n in named if _wants_nothing(getattr(self.module, n))]

    def outs(self, *steps: Mapping[str, Any] | list[str], **more: Any) -> list[Tensor]:
        """Return what one new object gives for each of several memories; names are of methods that are called."""
        module, found = copy.deepcopy(self.module), list[Tensor]()
        for step in steps:
            if isinstance(step, list):
                _ = [getattr(module, name)() for name in step]
                continue
            with torch.no_grad():
                returned = self.function(module, **{**self.given, **step, **more})
            found.append(next(x for x in tree_leaves(returned) if isinstance(x, Tensor)).detach().clone())
        return found


def of_memories(bound: Bound, asked: Request) -> tuple[list[str], list[str]]:
    """Return words on attention that keeps keys and values for the wrong memory: certain ones, and open ends."""
    certain, unclear = list[str](), list[str]()
    if asked.component not in HAVE_MEMORY or not isinstance(bound.place.thing, type):
        return certain, unclear
    there: list[_Memories] = []

    def called(function: Callable[..., Any], described: Any, *args: Any, **kwargs: Any) -> Any:
        given = inspect.signature(described).bind_partial(*args, **kwargs).arguments
        (_, module), *rest = given.items()
        if not there and isinstance(module, nn.Module) and _memory(dict(rest)):
            there.append(_Memories(copy.deepcopy(module).eval(), function, dict(rest)))
        return function(*args, **kwargs)

    with calls_as(bound.place, called):
        reply(bound.draft.implementation(bound.place.module), asked)
    for words, sure in (found for one in there for found in _found(bound.place, one)):
        (certain if sure else unclear).append(words)
    return certain[:1], [] if certain else unclear[:1]


def _found(place: Place, one: _Memories) -> Iterator[tuple[str, bool]]:
    """Yield words on each way that something is kept in, and whether they are certain."""
    taken = inspect.signature(one.function).parameters.values()
    flags = [p.name for p in taken if p.default is False and p.name not in one.given][:FLAGS]
    ways = [partial(_of_way, place, one, name) for name in [*flags, *([""] if one.begins else [])]]
    for way in [*ways, *([] if one.begins else [partial(_unasked, place, one)])]:
        try:
            words, sure = attempt(way)
        except Failed:
            continue
        if words:
            yield words, sure


def _of_way(place: Place, one: _Memories, flag: str) -> tuple[str, bool]:
    """Return a word on what is kept with a flag, or, where there is none, after what begins, and how sure."""
    more, begun = ({flag: True}, []) if flag else ({}, [one.begins])
    second = _second(one)
    shorter = {n: x[:, :-1] for n, x in second.items()}
    (first,), (want,) = one.outs({}), one.outs(second)
    outs = one.outs(*begun, {}, second, **more)
    if not same_numbers(outs[0], first) or same_numbers(outs[1], want):
        return "", False
    if one.begins and not same_numbers(one.outs(*begun, {}, one.begins, second, **more)[-1], want):
        return f"the method `{one.begins[0]}` {NOT_ANEW}", True
    how = f"with `{flag}`" if flag else f"after `{one.begins[0]}`"
    if not same_numbers(outs[1], first):
        return "", False
    if _says_that_it_notices(place):
        return f"{how} {OF_ANOTHER}, which is said to be noticed", True
    noticed = not one.begins and same_numbers(one.outs({}, shorter, **more)[-1], one.outs(shorter)[-1])
    return (f"{how} {OF_ANOTHER}; one of another shape does not", False) if noticed else ("", False)


def _unasked(place: Place, one: _Memories) -> tuple[str, bool]:
    """Return a word on what is kept though nothing asks for it, and how sure.

    It is not where somebody is asked to begin anew, or methods may do it.
    """
    second = _second(one)
    (first,), (want,) = one.outs({}), one.outs(second)
    before, after = one.outs({}, second)
    if same_numbers(first, want) or not same_numbers(before, first) or not same_numbers(after, first):
        return "", False  # or it draws at random
    if _says_that_it_notices(place):
        return f"{UNASKED} {OF_ANOTHER}, which is said to be noticed", True
    own = public(type(one.module), call_of(place.thing).__name__)
    others = {name: method for name, method in own.items() if name not in ("train", "eval")}
    forget = [name for name, method in others.items() if begins(method)]
    if same_numbers(one.outs({}, forget, second)[-1], want):
        return "", False
    told = any(_says(NOTICES, clause) for clause in _clauses(place))
    return f"{UNASKED} {OF_ANOTHER}", not (told or any(map(writes, others.values())))


def _second(one: _Memories) -> dict[str, Tensor]:
    """Return another memory of the same shape, by the names of its arguments."""
    return {n: drawn(f"another {n}", *one.given[n].shape).to(one.given[n].dtype) for n in _memory(one.given)}


def _memory(given: Mapping[str, Any]) -> list[str]:
    """Return the arguments that are sequences other than the first."""
    tensors = {name: x for name, x in given.items() if isinstance(x, Tensor) and x.is_floating_point()}
    first = next(iter(tensors.values()), None)
    return [name for name, x in tensors.items() if x is not first and x.ndim == 3]


def _wants_nothing(method: Callable[..., Any]) -> bool:
    return all(p.default is not p.empty for p in inspect.signature(method).parameters.values())


def _says_that_it_notices(place: Place) -> bool:
    """Return whether a clause of the file speaks of another memory, and asks nobody to do something about it."""
    return any(_says(NOTICES, clause) and not _says(ASKS, clause) for clause in _clauses(place))


def _clauses(place: Place) -> list[str]:
    return re.split(r"[.;](?=\s|$)", " ".join(said_in_file(place.module)))


def _says(words: str, text: str) -> bool:
    return re.search(words, text, re.IGNORECASE) is not None
