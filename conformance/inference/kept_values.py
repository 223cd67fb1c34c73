"""What an object keeps of a call has to follow its weights: they change in training, between one call and the next."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.binding import Bound
from attnconf.conformance.inference.spied import calls_as
from attnconf.conformance.inference.trial import reply, same_numbers

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
