"""Masks that a file says may be of another kind than the one that a binding hands over: they hide the same keys.

Those of booleans may hold numbers, floats that are added or integers; those that are added may be of booleans.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Reply, Request
from attnconf.conformance.inference.masks.claims import words_on
from attnconf.conformance.inference.trials.binding import Bound
from attnconf.conformance.inference.trials.spied import calls_as
from attnconf.conformance.inference.trials.trial import reply, same
from attnconf.conformance.inference.words.mask_words import DROPS

ADDED = r"(?i)float[^.;]*\b(add(ed|itive|s)?|sum(med|s)?)\b|\badd(ed|itive)\b[^.;]*\bif (it is )?(a )?float"
INTEGERS = r"(?i)\bintegers?\b|\bint(32|64)?\b|\blong(tensor)?\b"
BOOLEANS = r"(?i)\b(a )?bool(ean)?s?\b( mask)?[^.;,]*\b(true|false|allow|keep|hid|mask(s|ed)?\b)"
CONVERTED = r"(?i)convert|turn(ed)? into|first|instead of|no(t a)? bool"  # by the caller
LOW = -1e9
Numbers = Callable[[Tensor, Tensor], Tensor]  # of a mask of booleans, and of the inputs, whose dtype floats have


def in_numbers(bound: Bound, asked: Request) -> Iterator[str]:
    """Yield a word on each mask that hides something else in the numbers that its words speak of than in booleans."""
    forward = COMPONENTS[asked.component].forward
    query = asked.inputs.get("query")
    key = asked.inputs.get("key", query)
    if not (isinstance(query, Tensor) and isinstance(key, Tensor) and key.ndim in (3, 4)):
        return
    keep = torch.arange(key.shape[-2]) < key.shape[-2] - 1
    masks = {"attn_mask": keep.expand(query.shape[-2], -1), "key_mask": keep.expand(len(key), -1)}
    for name, does in bound.masks.items():
        words = words_on(bound.place.thing, name)
        if does == "additive" and re.search(BOOLEANS, words) and not re.search(CONVERTED, words):
            if any(_hides_otherwise(bound, asked.with_inputs(**{ours: masks[ours]}), name) for ours in masks):
                yield f"the argument `{name}` of forward does not hide in booleans what it hides in numbers"
            continue
        drops = does.endswith(DROPS)
        promised: tuple[tuple[str, Numbers, str], ...] = (
            (ADDED, partial(_added, drops), "is not added where it is float, as its words say"),
            (INTEGERS, _integers, "hides something else in integers than in booleans"),
        )
        for said, numbers, what in promised:
            given = [n for n in masks if n in forward and re.search(said, words)]
            if any(_differs(bound, asked.with_inputs(**{ours: masks[ours]}), name, numbers) for ours in given):
                yield f"the argument `{name}` of forward {what}"


def _added(drops: bool, mask: Tensor, x: Tensor) -> Tensor:
    return x.new_zeros(mask.shape).masked_fill(mask if drops else ~mask, LOW)


def _integers(mask: Tensor, x: Tensor) -> Tensor:
    return mask.long()


def _differs(bound: Bound, asked: Request, name: str, numbers: Numbers) -> bool:
    """Return whether a mask, which is handed over as ``name``, hides something else in numbers than in booleans."""
    base, handed = _reply(bound, asked, name, lambda mask, x: mask)
    given, _ = _reply(bound, asked, name, numbers)
    return handed and isinstance(base, Reply) and isinstance(given, Reply) and not same(given, base)


def _hides_otherwise(bound: Bound, asked: Request, name: str) -> bool:
    """Return whether booleans in the place of a mask that is added hide something else, whichever of them hides."""
    base, handed = _reply(bound, asked, name, lambda mask, x: mask, booleans=False)
    ways: tuple[Numbers, ...] = (lambda mask, x: mask == 0, lambda mask, x: mask != 0)
    given = [_reply(bound, asked, name, way, booleans=False)[0] for way in ways]
    there = handed and isinstance(base, Reply) and all(isinstance(one, Reply) for one in given)
    return there and not any(same(one, base) for one in given)


def _reply(
    bound: Bound, asked: Request, name: str, numbers: Numbers, booleans: bool = True
) -> tuple[Reply | Failure, bool]:
    """Return what comes of a call, and whether booleans, or floats, were handed over as ``name``: they are replaced."""
    handed = False

    def called(function: Callable[..., Any], _: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal handed
        mask = kwargs.get(name)
        if isinstance(mask, Tensor) and (mask.dtype == torch.bool) == booleans:
            handed = True
            x = next(x for x in tree_leaves((args, kwargs)) if isinstance(x, Tensor) and x.is_floating_point())
            kwargs = {**kwargs, name: numbers(mask, x)}
        return function(*args, **kwargs)

    with calls_as(bound.place, called):
        return reply(bound.draft.implementation(bound.place.module), asked), handed
