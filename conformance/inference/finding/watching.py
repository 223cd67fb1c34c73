"""A call of a model, watched: which parts it calls, and where there are vectors for tokens."""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import count
from math import inf
from typing import Any

from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from attnconf.adapters.generated.vector_input import CALL, Calls, function_of, part_of
from attnconf.conformance.inference.building.module_sizes import names_read
from attnconf.conformance.inference.finding.layer_kinds import ATTENDS, WHOLE
from attnconf.conformance.inference.texts.layer_requests import FIRST
from attnconf.conformance.inference.trials.calling import Form, Slot
from attnconf.conformance.inference.trials.probing import Failed, attempt, restored

WIDTH = FIRST.width
B = 2
SUMS = ("add", "__add__", "__iadd__", "__radd__", "add_")
Shape = tuple[int, ...]


@dataclass
class Seen:
    """A sub-module that was called: what it got and gave, by shape, and when."""

    name: str
    takes: Shape | None
    began: int
    ended: int = -1
    gives: Shape | None = None
    attends: bool = False
    mixes: bool = False  # it has a matrix

    @property
    def kind(self) -> str:
        """Its name, the same for the parts of a list."""
        return re.sub(r"\d+", "*", self.name)


def watched(
    module: nn.Module, form: Form, what: Callable[[Slot], Any], fits: Callable[[Shape], bool]
) -> tuple[list[Seen], Any]:
    """Return which sub-modules a call calls, in the order of their beginnings, and what comes back.

    ``fits`` says which shapes are those of vectors for tokens. Raises Failed.
    """
    seen, clock = list[Seen](), count()

    def watch(name: str, part: nn.Module) -> None:
        open_: list[Seen] = []

        def before(_: Any, args: Any, kwargs: Any) -> None:
            open_.append(
                Seen(name, _shape((args, kwargs), fits), next(clock), attends=_attends(part), mixes=_mixes(part))
            )
            seen.append(open_[-1])

        def after(_: Any, args: Any, output: Any) -> None:
            one = open_.pop()
            one.gives, one.ended = _shape(output, fits), next(clock)

        part.register_forward_pre_hook(before, with_kwargs=True)
        part.register_forward_hook(after)

    with restored(module):
        for name, part in module.named_modules():
            if name:
                watch(name, part)
        return seen, called_with(module, form, what)


def _shape(tree: Any, fits: Callable[[Shape], bool]) -> Shape | None:
    """Return the shape of the first tensor that has vectors for tokens."""
    for x in tree_leaves(tree):
        if isinstance(x, Tensor) and x.is_floating_point() and fits(tuple(x.shape)):
            return tuple(x.shape)
    return None


def _attends(part: nn.Module) -> bool:
    return any({type(m).__name__} & (WHOLE | ATTENDS) or names_read(type(m)) & ATTENDS for m in part.modules())


def _mixes(part: nn.Module) -> bool:
    return any(p.ndim > 1 for p in part.parameters())


def called_with(module: nn.Module, form: Form, what: Callable[[Slot], Any]) -> Any:
    """Return what a call gives in evaluation and float64, each slot given what it is to get. Raises Failed."""
    given = {slot.name: what(slot) for slot in form.slots if slot.required or what(slot) is not None}
    return attempt(lambda: module.double().eval()(**given))


def output_of(result: Any) -> Tensor:
    """Return the first array of numbers that came back."""
    return next(x for x in tree_leaves(result) if isinstance(x, Tensor) and x.is_floating_point())


def last(seen: Sequence[Seen], shapes: Sequence[Shape]) -> str:
    """Return the last place where there are vectors for all tokens: the rest is a head. Raises Failed."""
    places = [(one.ended, f"output of {one.name}") for one in seen if one.gives in shapes]
    places += [(one.began, f"input of {one.name}") for one in seen if one.takes in shapes and not one.attends]
    end = _of_the_head(seen)
    if places:
        return max([place for place in places if place[0] <= end] or places)[1]
    raise Failed("no vectors come out of its layers")


def _of_the_head(seen: Sequence[Seen]) -> float:
    """Return when a head begins that has matrices: a part behind the last that attends, and no one such is before it.

    The networks of layers may be in a list of their own; then that of the first layer is before. Where no part attends,
    the model itself does, and nothing tells.
    """
    layers = max((one.ended for one in seen if one.attends), default=inf)
    before = {one.kind for one in seen if one.began < layers}
    return min((one.began for one in seen if one.mixes and one.began > layers and one.kind not in before), default=inf)


def ending(
    module: nn.Module, form: Form, what: Callable[[Slot], Any], seen: Sequence[Seen], shapes: Sequence[Shape]
) -> str:
    """Return where the layers of a model end, its depth aside: what comes behind is a head. Raises Failed.

    Behind a part that is no norm the model itself may add what it gives to what came in: the last sum.
    """
    place = last(seen, shapes)
    part = part_of(module, place)
    if place.startswith("output") and not _is_norm(part):
        sums = _sums_behind(module, part, partial(called_with, module, form, what), shapes)
        if sums:
            return f"{CALL}-1 of {function_of(sums[-1])}"
    return _from_the_end(place, module)


def _is_norm(part: nn.Module) -> bool:
    return "norm" in type(part).__name__.lower() and not list(part.children())


def _sums_behind(module: nn.Module, part: nn.Module, call: Callable[[], Any], shapes: Sequence[Shape]) -> list[str]:
    """Return the calls in which torch adds vectors once a part was called the last time. Raises Failed."""
    found: list[str] = []

    def note(name: str, result: Any) -> Any:
        if function_of(name) in SUMS and isinstance(result, Tensor) and tuple(result.shape) in shapes:
            found.append(name)
        return result

    with restored(module), Calls(note):
        part.register_forward_hook(lambda *_: found.clear())
        call()
    return found


def _from_the_end(place: str, module: nn.Module) -> str:
    """Return a place such that the last of a list of parts is the last of as many as there are."""
    kind, _, name = place.partition(" of ")
    part: nn.Module = module
    steps = []
    for step in name.split("."):
        at_end = isinstance(part, nn.ModuleList | nn.Sequential) and step == str(len(part) - 1)
        steps.append("-1" if at_end else step)
        part = part.get_submodule(step)
    return f"{kind} of {'.'.join(steps)}"


def calls_before(module: nn.Module, form: Form, what: Callable[[Slot], Any], name: str) -> list[str]:
    """Return which call of a function of torch gives what a part is called with first; nothing where none does."""
    results: list[tuple[str, Any]] = []
    found: list[str] = []

    def note(call: str, result: Any) -> Any:
        results.append((call, result))
        return result

    def before(_: Any, args: Any) -> None:
        found.extend(call for call, result in results if args and result is args[0])
        results.clear()

    def call_watched(*args: Any, **kwargs: Any) -> Any:
        with Calls(note):
            return forward(*args, **kwargs)

    with restored(module), suppress(Failed):
        forward, module.forward = module.forward, call_watched
        module.get_submodule(name).register_forward_pre_hook(before)
        called_with(module, form, what)
    return found[:1]
