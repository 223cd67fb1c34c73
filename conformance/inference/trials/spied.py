"""The calls of a user's class or function, seen from within, and handed more arguments."""

import contextlib
import dis
import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from attnconf.conformance.inference.trials.binding import CALLED_AS, Place
from attnconf.conformance.inference.trials.calling import call_of

NOTHING = object()
BUILT_AS = "__attnconf_built_as__"  # of the class of what a function builds: the class of its objects


@dataclass
class Seen:
    """What was seen of the calls: the arguments that were handed over, and what the last one got and returned."""

    names: set[str] = field(default_factory=set)
    given: tuple[tuple[Any, ...], dict[str, Any]] = ((), {})
    returned: Any = None
    calls: int = 0


@contextlib.contextmanager
def spied(place: Place, earlier: bool = False, /, **more: Any) -> Iterator[Seen]:
    """Look at the calls of a class's objects, or of a function; ``more``: arguments that each call gets besides.

    ``earlier``: each is made without these once before, by the same object.
    """
    seen, owned = Seen(), isinstance(place.thing, type) or _is_of_object(place)

    def called(function: Callable[..., Any], described: Any, *args: Any, **kwargs: Any) -> Any:
        with contextlib.suppress(TypeError):
            seen.names |= set(inspect.signature(described).bind_partial(*args, **kwargs).arguments)
        seen.calls += 1
        seen.given = args[1:] if owned else args, {**kwargs, **more}
        if earlier:
            function(*args, **kwargs)
        seen.returned = function(*args, **{**kwargs, **more})
        return seen.returned

    with calls_as(place, called):
        yield seen


@contextlib.contextmanager
def calls_as(place: Place, called: Callable[..., Any]) -> Iterator[None]:
    """Let something else be called for a class's method, or a function: it gets that one, as it is and as described."""
    holder, _, method = place.name.rpartition(".")
    within: Any = place.thing if isinstance(place.thing, type) else vars(place.module).get(holder, place.module)
    name = call_of(within).__name__ if within is place.thing else method
    described = getattr(within, name)
    within = getattr(within, BUILT_AS, within)
    function: Callable[..., Any] = getattr(within, name)
    own = vars(within).get(name, NOTHING)

    @functools.wraps(function)
    def instead(*args: Any, **kwargs: Any) -> Any:
        return called(function, described, *args, **kwargs)

    setattr(within, name, instead)
    try:
        yield
    finally:
        if own is NOTHING:
            delattr(within, name)
        else:
            setattr(within, name, own)


def _is_of_object(place: Place) -> bool:
    """Return whether a method is called of an object, and not of its class."""
    return "(" in getattr(place.thing, CALLED_AS, "")


def unread(function: Any) -> list[str]:
    """Return the parameters of a function whose values its code never reads, also as others take their places."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None or "locals" in code.co_names:
        return []
    read = {*code.co_cellvars}
    for one in dis.get_instructions(code):
        if one.opname.startswith(("LOAD_FAST", "STORE_FAST_LOAD_FAST", "LOAD_DEREF", "DELETE_FAST")):
            read |= set(one.argval) if isinstance(one.argval, tuple) else {one.argval}
    taken = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    read -= set(_replaced(code)) - {*code.co_cellvars}
    return [name for name in taken if name not in read and name not in ("self", "cls")]


def _replaced(code: CodeType) -> Iterator[str]:
    """Yield the local names that get another value before anything reads them, on every way through the code."""
    first: dict[Any, str] = {}
    furthest = 0  # where a jump leads: what stands before it may be passed over
    for one in dis.get_instructions(code):
        if "_FAST" in one.opname:
            for name in one.argval if isinstance(one.argval, tuple) else (one.argval,):
                plain = one.opname == "STORE_FAST" and furthest <= one.offset
                first.setdefault(name, "replaced" if plain else "read")
        if one.opcode in dis.hasjrel or one.opcode in dis.hasjabs:
            furthest = max(furthest, int(one.argval))
    yield from (name for name, how in first.items() if how == "replaced")
