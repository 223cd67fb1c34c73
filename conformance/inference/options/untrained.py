"""Parameters that change what comes out, and get no gradient: they stay what they were before training.

This holds whatever they are: those that a binding sets aside, too, as what a model adds to vectors that it is handed.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.state.by_steps import public, wanted
from attnconf.conformance.inference.trials.binding import Bound
from attnconf.conformance.inference.trials.calling import call_of
from attnconf.conformance.inference.trials.claims import said_in_file
from attnconf.conformance.inference.trials.probing import Failed, attempt
from attnconf.conformance.inference.trials.spied import calls_as
from attnconf.conformance.inference.trials.trial import drawn, reply

SAID = r"(?i)frozen|freez|fixed|not (be )?(train|learn)|untrained|no grad|without gradient|stop[- _]?grad|constant"
STEP = 1e-5  # of a parameter, so small that no threshold is crossed but by chance
LEAST = 1e-7  # change of an output of order 1 for it, where rounding in float64 gives 1e-15


def of_untrained(bound: Bound, asked: Request) -> Iterator[str]:
    """Yield a word on the first parameter that is to be trained, matters, and gets no gradient."""
    said = any(re.search(SAID, line) for line in said_in_file(bound.place.module))
    if said or not isinstance(bound.place.thing, type):
        return
    held: list[tuple[Any, ...]] = []

    def called(function: Any, described: Any, *args: Any, **kwargs: Any) -> Any:
        if not held and args and isinstance(args[0], nn.Module):
            held.append((function, args, kwargs))
        return function(*args, **kwargs)

    with calls_as(bound.place, called):
        reply(bound.draft.implementation(bound.place.module), asked)
    for function, (module, *inputs), kwargs in held:
        try:
            name = attempt(lambda: _first(module, function, inputs, kwargs))  # noqa: B023
        except Failed:
            continue
        if name:
            yield f"the parameter {name} changes what comes out, and gets no gradient"
        else:
            yield from islice(_of_methods(module, call_of(bound.place.thing).__name__), 1)


def _of_methods(module: nn.Module, call: str) -> Iterator[str]:
    """Yield a word on a parameter that another method uses for vectors: one for logits, beside the call for ids."""
    widths = sorted({p.shape[-1] for p in module.parameters() if p.ndim == 2})
    for name, method in public(type(module), call).items():
        for width in widths if len(wanted(method)) == 1 else ():
            x = drawn("vectors for a method", 2, 3, width).requires_grad_()
            try:
                found = attempt(lambda method=method, x=x: _first(module, method, [x], {}))  # type: ignore[misc]
            except (Failed, StopIteration):
                continue
            if found:
                yield f"the parameter {found} changes what comes out of `{name}`, and gets no gradient there"


def _first(module: nn.Module, function: Any, inputs: list[Any], kwargs: dict[str, Any]) -> str:
    """Return the name of the first such parameter of a module, called as it was; "" where there is none."""

    def out() -> Tensor:
        found = tree_leaves(function(module, *inputs, **kwargs))
        return next(y for y in found if isinstance(y, Tensor) and y.is_floating_point())

    learned = {name: p for name, p in module.named_parameters() if p.requires_grad and p.is_floating_point()}
    with torch.enable_grad():
        y = out()
    if not y.requires_grad or y.dtype != torch.float64:
        return ""
    cotangent = drawn("for parameters without a gradient", *y.shape)
    grads = torch.autograd.grad((y * cotangent).sum(), list(learned.values()), allow_unused=True)
    for (name, p), grad in zip(learned.items(), grads, strict=True):
        if (grad is None or not grad.any()) and _matters(p, out):
            return name
    return ""


def _matters(p: nn.Parameter, out: Any) -> bool:
    """Return whether what comes out changes with a parameter by as much as a slope says, twice as far by twice that."""
    before = p.detach().clone()
    direction = drawn("a direction of parameters", *p.shape).to(p)
    with torch.no_grad():
        ys = []
        for steps in (0, 1, 2):
            p.copy_(before + steps * STEP * direction)
            ys.append(out())
        p.copy_(before)
    one, two = ((y - ys[0]).abs().max() for y in ys[1:])
    return bool(one > LEAST and 1.5 * one < two < 2.5 * one)
