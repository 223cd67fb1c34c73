"""What a call leaves behind: what an object keeps follows its weights, and the masks of a layer stay as they were.

Weights change in training, between one call and the next. A layer's masks are often made of ours, so that no
requirement sees what becomes of them.
"""

import contextlib
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.trials.binding import Bound
from attnconf.conformance.inference.trials.spied import calls_as
from attnconf.conformance.inference.trials.trial import reply, same_numbers

STALE = "what it keeps of a call does not follow its weights: after they change in training, it is as old as they were"


def of_old_weights(bound: Bound, asked: Request) -> Iterator[str]:
    """Yield a word on an object that computes in training with what it made of the weights of an earlier call.

    Whoever keeps something for evaluation alone, and drops it in training, is right.
    """
    if not isinstance(bound.place.thing, type):
        return
    before, unchanged, after = _outputs(bound, asked, (False, False, True))
    if before is None or _differ(before, unchanged):
        return  # it draws at random, or is not called like this
    (new,) = _outputs(bound, asked, (True,))
    if new is not None and _differ(new, after) and not _differ(before, after):
        yield STALE


def of_masks(bound: Bound, asked: Request) -> Iterator[str]:
    """Yield a word on each mask of a layer that a call overwrites: the caller's own, who gives it to the next layer."""
    known, x = COMPONENTS[asked.component], asked.inputs.get("x")
    if not (known.layered and "key_mask" in known.forward and isinstance(x, Tensor)):
        return
    tokens = {"key_mask": x, "memory_mask": asked.inputs.get("memory")}
    masks = {
        n: torch.arange(y.shape[1]).expand(len(y), -1) < y.shape[1] - 1 for n, y in tokens.items() if y is not None
    }
    found: dict[str, None] = {}

    def called(function: Callable[..., Any], described: Any, *args: Any, **kwargs: Any) -> Any:
        given: dict[str, Any] = {}
        with contextlib.suppress(TypeError):
            given = inspect.signature(described).bind_partial(*args, **kwargs).arguments
        before = {n: (y, y._version) for n, y in given.items() if isinstance(y, Tensor) and y.dtype == torch.bool}
        returned = function(*args, **kwargs)
        found.update(dict.fromkeys(n for n, (y, version) in before.items() if y._version != version))
        return returned

    with calls_as(bound.place, called):
        reply(bound.draft.implementation(bound.place.module), asked.with_inputs(**masks))
    yield from (f"the argument `{name}` of forward is overwritten" for name in found)


def _outputs(bound: Bound, asked: Request, changed: tuple[bool, ...]) -> list[Tensor | None]:
    """Return the outputs of one object in training, called again and again, from some call on with other weights."""
    outs: list[Tensor | None] = []

    def called(function: Callable[..., Any], _: Any, module: Any, *args: Any, **kwargs: Any) -> Any:
        if outs or not isinstance(module, nn.Module):
            return function(module, *args, **kwargs)
        weights: list[Tensor] = [w for m in module.modules() for w in m._parameters.values() if w is not None]
        kept, mode = [w.detach().clone() for w in weights], module.training
        try:
            for other in changed:
                if other:
                    _fill(weights, [w.flip(0) * 2 for w in kept])
                outs.append(_first(function(module.train(), *args, **kwargs)))
        finally:
            _fill(weights, kept)
        return function(module.train(mode), *args, **kwargs)

    with calls_as(bound.place, called):
        given = reply(bound.draft.implementation(bound.place.module), asked)
    whole = not isinstance(given, Failure) and len(outs) == len(changed)
    return outs if whole else [None] * len(changed)


def _fill(weights: Sequence[Tensor], values: Sequence[Tensor]) -> None:
    with torch.no_grad():
        for w, value in zip(weights, values, strict=True):
            w.copy_(value)


def _first(returned: Any) -> Tensor | None:
    out = next((x for x in tree_leaves(returned) if isinstance(x, Tensor)), None)
    return None if out is None else out.detach().clone()


def _differ(one: Tensor | None, other: Tensor | None) -> bool:
    return one is None or other is None or not same_numbers(one, other)
