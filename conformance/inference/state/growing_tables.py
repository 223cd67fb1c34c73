"""Tables of positions that grow on demand: the rows that are added have to be those of the positions behind.

Code that has a last position may refuse whatever is longer; code that makes its table longer answers for what it adds.
"""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import FunctionType
from typing import Any

from torch import Tensor

from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Implementation, Reply, Request
from attnconf.conformance.engine.translate import in_conventions
from attnconf.conformance.inference.trials.binding import Bound
from attnconf.conformance.inference.trials.trial import drawn, reply, textbook

KNOWN = ("rotary", "sinusoidal")
SHORT, LONGEST = 5, 4096  # tokens of a first call, and rows that a table has at most to be asked beyond them
RIGHT, WRONG = 1e-3, 0.05  # of the largest number: whatever rounding does to late positions is between them
DEEP, FEW = 4, 4  # functions within functions and objects within objects; entries of a list

Shapes = Mapping[str, tuple[int, ...]]


def of_growth(bound: Bound, asked: Request) -> Iterator[str]:
    """Yield a word on a table that grows in a call and is wrong behind its first rows, which it had before."""
    if bound.draft.component not in KNOWN or bound.certified != "reference":
        return
    made = bound.draft.implementation(bound.place.module)
    _, first = _after(made, _of_lengths(asked, [SHORT]))
    rows = max((n for shape in first.values() for n in shape), default=0)
    if not SHORT <= rows <= LONGEST:
        return
    for lengths in ([SHORT, rows + 3], [SHORT, rows + 3, 2 * rows + 9]):
        request = _of_lengths(asked, lengths)
        given, then = _after(made, request)
        had = _grown(first, then)
        if isinstance(given, Failure) or not had:
            return
        at = _first_wrong(given, _wanted(bound, request))
        if at is not None and at >= had:
            yield f"its table grows on demand, and is wrong from position {at} on, where it had {had} rows before"
            return


def _of_lengths(asked: Request, lengths: Sequence[int]) -> Request:
    """Return a call for so many tokens as the last length says, after calls of the same object for the others."""
    shape = asked.inputs["x"].shape
    *before, x = (drawn(f"{n} tokens", *shape[:-2], n, shape[-1]) for n in lengths)
    return replace(asked, inputs={"x": x}, out_shape=tuple(x.shape), before=tuple({"x": y} for y in before))


def _wanted(bound: Bound, request: Request) -> Reply | Failure:
    config = replace(request.config, max_len=request.out_shape[-2])
    return reply(in_conventions(textbook(), bound.draft.declares), replace(request, config=config, before=()))


def _first_wrong(given: Reply, want: Reply | Failure) -> int | None:
    """Return the first position that is clearly wrong, where all before it are right; None where there is none."""
    if isinstance(want, Failure) or given.out.shape != want.out.shape:
        return None
    off = (given.out - want.out).abs().amax(-1).flatten(0, -2).amax(0) / want.out.abs().max()
    wrong = (off > WRONG).nonzero()
    at = int(wrong[0]) if len(wrong) else None
    return at if at is not None and bool((off[:at] <= RIGHT).all()) else None


def _grown(first: Shapes, then: Shapes) -> int:
    """Return how long something was that has become longer along one axis, and is otherwise as it was; 0 if nothing."""
    found = [0]
    for path, shape in first.items():
        pairs = list(zip(shape, then.get(path, ()), strict=False)) if len(then.get(path, ())) == len(shape) else []
        changed = [(before, after) for before, after in pairs if before != after]
        found += [before for before, after in changed if len(changed) == 1 and after > before]
    return max(found)


def _after(made: Implementation, request: Request) -> tuple[Reply | Failure, Shapes]:
    """Return the reply, and the shapes of what the object keeps after it."""
    forwards: list[Any] = []
    build = made.components[request.component]

    def watched(config: Any, weights: Any) -> Any:
        forwards.append(build(config, weights))
        return forwards[-1]

    given = reply(replace(made, components={request.component: watched}), request)
    return given, dict(_kept(forwards[-1])) if forwards else {}


def _kept(thing: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the shapes of the tables that something holds, in closures and in attributes."""
    if isinstance(thing, Tensor) and thing.ndim > 1:
        yield path, tuple(thing.shape)
    for name, value in _inside(thing) if depth < DEEP else ():
        if not isinstance(value, type):
            yield from _kept(value, f"{path}.{name}", depth + 1)


def _inside(thing: Any) -> Iterator[tuple[str, Any]]:
    """Yield what a function has in its closure, or an object in its attributes; of a list the first few."""
    if isinstance(thing, FunctionType):
        yield from inspect.getclosurevars(thing).nonlocals.items()
    elif isinstance(thing, dict):
        yield from ((str(key), value) for key, value in thing.items())
    elif isinstance(thing, tuple | list):
        yield from ((str(i), value) for i, value in enumerate(thing[:FEW]))
    elif not isinstance(thing, Tensor):
        yield from getattr(thing, "__dict__", {}).items()
