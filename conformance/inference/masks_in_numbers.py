"""Masks of booleans that a file says may hold numbers: floats that are added, or integers. They hide the same keys."""

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
from attnconf.conformance.inference.binding import Bound
from attnconf.conformance.inference.mask_claims import words_on
from attnconf.conformance.inference.mask_words import DROPS
from attnconf.conformance.inference.spied import calls_as
from attnconf.conformance.inference.trial import reply, same

ADDED = r"(?i)float[^.;]*\b(add(ed|itive|s)?|sum(med|s)?)\b|\badd(ed|itive)\b[^.;]*\bif (it is )?(a )?float"
INTEGERS = r"(?i)\bintegers?\b|\bint(32|64)?\b|\blong(tensor)?\b"
LOW = -1e9
Numbers = Callable[[Tensor, Tensor], Tensor]  # of a mask of booleans, and of the inputs, whose dtype floats have


def in_numbers(bound: Bound, asked: Request) -> Iterator[str]:
    """Yield a word on each mask that hides something else in the numbers that its words speak of than in booleans."""
    forward = COMPONENTS[asked.component].forward
    query = asked.inputs.get("query")
    key = asked.inputs.get("key", query)
    if not (isinstance(query, Tensor) and isinstance(key, Tensor) and key.ndim == 3):
        return
    keep = torch.arange(key.shape[1]) < key.shape[1] - 1
    masks = {"attn_mask": keep.expand(query.shape[1], -1), "key_mask": keep.expand(len(key), -1)}
    for name, does in bound.masks.items():
        words = words_on(bound.place.thing, name)
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


def _reply(bound: Bound, asked: Request, name: str, numbers: Numbers) -> tuple[Reply | Failure, bool]:
    """Return what comes of a call, and whether it was handed booleans as ``name``, which are made numbers."""
    handed = False

    def called(function: Callable[..., Any], _: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal handed
        mask = kwargs.get(name)
        if isinstance(mask, Tensor) and mask.dtype == torch.bool:
            handed = True
            x = next(x for x in tree_leaves((args, kwargs)) if isinstance(x, Tensor) and x.is_floating_point())
            kwargs = {**kwargs, name: numbers(mask, x)}
        return function(*args, **kwargs)

    with calls_as(bound.place, called):
        return reply(bound.draft.implementation(bound.place.module), asked), handed
