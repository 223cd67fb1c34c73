"""Methods that take a sequence part by part, beside the call that takes it whole: both have to give the same.

A method is asked where it is called a step, takes what the call takes, keeps something in its object, and gives for the
first part what the call gives. Methods that begin a sequence, by their names, are called before each of two. Several
positions behind others are asked for where words say that they may come.
"""

import contextlib
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.binding import Bound, Place
from attnconf.conformance.inference.calling import call_of
from attnconf.conformance.inference.kept_objects import OF_SAMPLES
from attnconf.conformance.inference.kept_state import SEVERAL
from attnconf.conformance.inference.probing import Failed, attempt
from attnconf.conformance.inference.said_of_caches import as_promised
from attnconf.conformance.inference.spied import calls_as
from attnconf.conformance.inference.trial import drawn, reply, same_numbers
from attnconf.conformance.inference.vocabulary import snake

STEP = (
    r"(forward_|decode_|run_)?(one_|next_|single_|incremental_)?(step|incremental|decode_one)(_forward)?"
    r"|forward_(cached|chunk|incremental)|"
    r"(attend|decode|process|push|feed|stream|extend|append|advance|consume|ingest|read)(_(chunk|next|cached))?"
)
BEGIN = (
    r"(start|begin|reset|restart|clear|new|init|empty|forget|drop|flush|free|release)"
    r"(_(?!.*(param|weight|grad|hook|drop|layer|bias))\w+)?"
)
LONG = 6
ONE_BY_ONE, IN_PARTS = (1,) * LONG, (2, 1, 3)
ROOM = r"(max_?)?(seq_?)?(len(gth)?|size|steps|tokens)|capacity"


@dataclass(frozen=True)
class Stepped:
    """An object with its call, a method for one position, and those that begin a sequence, by name."""

    call: Callable[[Mapping[str, Any]], Any]
    step: Callable[..., Any]
    begin: Sequence[Callable[..., Any]]
    first: str  # the name of the argument that holds the positions

    def whole(self, given: Mapping[str, Any]) -> Tensor:
        return _output(self.call(given), given[self.first])

    def stepwise(self, given: Mapping[str, Any], cuts: Sequence[int] = ONE_BY_ONE, so_far: bool = False) -> Tensor:
        """Return the output of each part, as the object is stepped; ``so_far``: it is handed those before too."""
        x, outs, at = given[self.first], [], 0
        for begin in self.begin:
            begin(**_taken(begin, given, x))
        for size in cuts:
            part = x[:, 0 if so_far else at : at + size]
            outs.append(_output(self._stepped(part, given), part)[:, -size:])
            at += size
        return torch.cat(outs, 1)

    def _stepped(self, part: Tensor, given: Mapping[str, Any]) -> Any:
        """Return what the step gives, whose first argument is the part however it is called."""
        name = next(iter(inspect.signature(self.step).parameters))
        return self.step(**{**_taken(self.step, {**given, self.first: part}, part), name: part})


def of_steps(bound: Bound, asked: Request) -> Iterator[str]:
    """Yield a word on a method for one position after the other that does not give what the call gives."""
    thing = bound.place.thing
    steps = _methods(thing, STEP)
    if len(steps) != 1 or steps[0] == call_of(thing).__name__:
        return
    words: list[str] = []

    def called(function: Callable[..., Any], described: Any, *args: Any, **kwargs: Any) -> Any:
        returned = function(*args, **kwargs)
        if not words:
            words.append("")
            given = dict(inspect.signature(described).bind_partial(*args, **kwargs).arguments)
            (_, module), *_ = given.items()
            with contextlib.suppress(Failed):
                words[0] = attempt(lambda: _of(module, function, dict(list(given.items())[1:]), steps[0]))
        return returned

    with calls_as(bound.place, called):
        reply(bound.draft.implementation(bound.place.module), asked)
    yield from filter(None, (_said(bound.place, steps[0], told) for told in words))


def _said(place: Place, name: str, told: str) -> str:
    """Return words on a step such that several positions at once count only where somebody says that they may come."""
    described = f"{inspect.getdoc(place.module) or ''} {inspect.getdoc(getattr(place.thing, name)) or ''}"
    if told != SEVERAL:
        return told
    return f"the method `{name}` {SEVERAL}" if as_promised(place, told, described) == SEVERAL else ""


def _of(module: Any, function: Callable[..., Any], given: dict[str, Any], name: str) -> str:
    """Return a word on the step of an object whose call was given this; "" where it is right, or is not understood."""
    first, x = next(iter(given.items()))
    begin = _methods(type(module), BEGIN)
    if not begin or not isinstance(x, Tensor) or any(isinstance(y, Tensor) and y.ndim != 3 for y in given.values()):
        return ""
    stepped = Stepped(
        lambda asked: function(module, **asked), getattr(module, name), [getattr(module, n) for n in begin], first
    )
    one, other = ({n: _other(y, n + which) for n, y in given.items()} for which in ("", ", again"))
    want, before = stepped.whole(one), _kept(module)
    if not _looks_back_alone(stepped, one, want):
        return ""
    outs = stepped.stepwise(one)
    if _kept(module) == before or not same_numbers(outs[:, :1], want[:, :1]):
        return ""
    if not same_numbers(outs, want):
        if same_numbers(stepped.stepwise(one, so_far=True), want):
            return ""
        return f"the method `{name}` does not continue a sequence: a later position is not what it is in the whole"
    if not same_numbers(stepped.stepwise(other), stepped.whole(other)):
        return f"the method `{begin[0]}` does not begin anew: `{name}` goes on with something of the sequence before"
    return SEVERAL if _several_differ(stepped, one, want) else ""


def _several_differ(stepped: Stepped, given: Mapping[str, Any], want: Tensor) -> bool:
    """Return whether a step takes several positions at the beginning, and gives others for them later."""
    with contextlib.suppress(Failed):  # parts that are refused are no mistake
        outs, first = attempt(lambda: stepped.stepwise(given, IN_PARTS)), IN_PARTS[0]
        return same_numbers(outs[:, :first], want[:, :first]) and not same_numbers(outs, want)
    return False


def _looks_back_alone(stepped: Stepped, given: Mapping[str, Any], want: Tensor) -> bool:
    """Return whether positions on axis 1 depend on those before them, and on none behind."""
    x = given[stepped.first]
    shorter = stepped.whole({**given, stepped.first: x[:, :-1]})
    changed = stepped.whole({**given, stepped.first: torch.cat([-x[:, :1], x[:, 1:]], 1)})
    return same_numbers(shorter, want[:, :-1]) and not same_numbers(changed[:, 1:], want[:, 1:])


def _methods(thing: Any, names: str) -> list[str]:
    """Return the methods of a class of such names."""
    found = vars(thing) if isinstance(thing, type) else {}
    return [n for n, m in found.items() if inspect.isfunction(m) and re.fullmatch(names, snake(n))]


def _taken(method: Callable[..., Any], given: Mapping[str, Any], x: Tensor) -> dict[str, Any]:
    """Return the arguments of a call that a method takes, and sizes that it wants; it fails where it wants others."""
    wanted = inspect.signature(method).parameters
    sizes = {name: size for name, one in wanted.items() if one.default is one.empty for size in _sizes(name, x)}
    return sizes | {name: given[name] for name in wanted if name in given}


def _sizes(name: str, x: Tensor) -> list[int]:
    """Return the number of samples, or of positions, where an argument is called so."""
    ways = ((OF_SAMPLES, x.shape[0]), (ROOM, LONG))
    return [size for names, size in ways if re.fullmatch(names, snake(name))][:1]


def _other(x: Any, name: str) -> Any:
    """Return a sequence of our own in the place of a tensor."""
    return drawn(f"in steps: {name}", x.shape[0], LONG, x.shape[2]).to(x.dtype) if isinstance(x, Tensor) else x


def _output(returned: Any, x: Tensor) -> Tensor:
    out = next(y for y in tree_leaves(returned) if isinstance(y, Tensor))
    if out.shape != x.shape:
        raise ValueError("what comes back is no output")
    return out.detach()


def _kept(module: Any) -> list[int]:
    """Return what an object and its parts hold besides parameters, as far as that it changes shows."""
    parts = module.modules() if isinstance(module, torch.nn.Module) else [module]
    held = [value for part in parts for name, value in vars(part).items() if name not in ("_parameters", "_modules")]
    return [id(leaf) for leaf in tree_leaves(held)]
