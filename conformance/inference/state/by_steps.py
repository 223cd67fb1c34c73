"""Methods for one position after the other whose names nobody knows: found by what they do.

One is a step where it takes what the call takes, gives one sequence as the whole has it, and then goes on with that.
Those that begin anew are all others that a user can call without more, where the same sequence comes out again after
them. What differs then for another sequence is something of the one before. Nothing else is held against them.
"""

import copy
import dis
import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from attnconf.conformance.inference.state.stepped import Stepped, another, held, sequences
from attnconf.conformance.inference.trials.probing import Failed, attempt
from attnconf.conformance.inference.trials.trial import same_numbers

NOT_ANEW = "the method `{}` does not begin anew: `{}` goes on with something of the sequence before"
_WRITES = ("STORE_ATTR", "DELETE_ATTR", "STORE_SUBSCR", "DELETE_SUBSCR")


def may_step(thing: Any, call: str) -> bool:
    """Return whether a class has public methods beside its call of which one wants something, and one nothing."""
    own = public(thing, call).values()
    return any(map(wanted, own)) and any(map(begins, own))


def of_the_sequence_before(module: Any, function: Callable[..., Any], given: Mapping[str, Any], call: str) -> str:
    """Return a word on methods that begin a sequence, and leave something of the one before; "" where none do."""
    own = public(type(module), call)
    for name, method in own.items() if sequences(given) else ():
        if wanted(method)[1:] == list(given)[1:]:
            others = {n: m for n, m in own.items() if n != name and begins(m)}
            rest = [m for n, m in own.items() if n != name and n not in others]
            if any(writes(m) for m in rest):
                continue  # one of these may be what begins, or takes another memory
            try:
                left = attempt(lambda name=name, others=others: _left(module, function, given, name, list(others)))  # type: ignore[misc]
            except Failed:
                continue
            if left:
                return left
    return ""


def _left(module: Any, function: Callable[..., Any], given: Mapping[str, Any], name: str, others: list[str]) -> str:
    """Return a word on a method, if it is a step, and others begin for it; "" where another sequence gets its own."""
    module = copy.deepcopy(module)
    stepped = Stepped(lambda asked: function(module, **asked), getattr(module, name), (), next(iter(given)))
    one, other = ({n: another(y, n + which) for n, y in given.items()} for which in ("", ", again"))
    want = stepped.whole(one)
    if not same_numbers(stepped.stepwise(one), want) or same_numbers(stepped.stepwise(one), want):
        return ""
    begin = [n for n in others if _changes(module, n)]
    stepped = replace(stepped, begin=[getattr(module, n) for n in begin])
    if not same_numbers(stepped.stepwise(one), want) or stepped.begins_anew(other):
        return ""
    return NOT_ANEW.format("`, `".join(begin), name)


def _changes(module: Any, name: str) -> bool:
    """Return whether a method changes what a copy of an object holds."""
    module = copy.deepcopy(module)
    before = held(module)
    getattr(module, name)()
    return held(module) != before


def public(thing: Any, call: str) -> dict[str, Callable[..., Any]]:
    """Return the public methods of a class beside its call, by name."""
    found = vars(thing) if isinstance(thing, type) else {}
    return {n: m for n, m in found.items() if inspect.isfunction(m) and not n.startswith("_") and n != call}


def wanted(method: Callable[..., Any]) -> list[str]:
    """Return the names of the arguments that a method has to be given."""
    _, *taken = inspect.signature(method).parameters.values()
    return [p.name for p in taken if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


def begins(method: Callable[..., Any]) -> bool:
    """Return whether a method can be called without more: it takes nothing, or flags that may be left out."""
    _, *taken = inspect.signature(method).parameters.values()
    return all(isinstance(p.default, bool) for p in taken)


def writes(method: Callable[..., Any]) -> bool:
    """Return whether the code of a method writes into something."""
    return any(one.opname in _WRITES for one in dis.get_instructions(method))
