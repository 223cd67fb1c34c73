"""Masks of booleans that a file says are added to the scores where they hold floats: they hide the same keys then."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Reply, Request
from attnconf.conformance.inference.binding import Bound
from attnconf.conformance.inference.mask_claims import beside
from attnconf.conformance.inference.mask_words import DROPS
from attnconf.conformance.inference.spied import calls_as
from attnconf.conformance.inference.trial import reply, same

ADDED = r"(?i)float[^.;]*\b(add(ed|itive|s)?|sum(med|s)?)\b|\badd(ed|itive)\b[^.;]*\bif (it is )?(a )?float"
LOW = -1e9


def not_added(bound: Bound, asked: Request) -> Iterator[str]:
    """Yield a word on each mask whose floats are said to be added, where 0 and -1e9 do not hide what booleans do."""
    forward = COMPONENTS[asked.component].forward
    query, key = (asked.inputs.get(name) for name in ("query", "key"))
    if not (isinstance(query, Tensor) and isinstance(key, Tensor) and key.ndim == 3):
        return
    said = [n for n in bound.masks if re.search(ADDED, " ".join(beside(bound.place.thing, n)))]
    keep = torch.arange(key.shape[1]) < key.shape[1] - 1
    masks = {"attn_mask": keep.expand(query.shape[1], -1), "key_mask": keep.expand(len(key), -1)}
    for name in said:
        for ours in (n for n in masks if n in forward):
            if _differs(bound, asked.with_inputs(**{ours: masks[ours]}), name):
                yield f"the argument `{name}` of forward is not added where it is float, as its words say it is"
                break


def _differs(bound: Bound, asked: Request, name: str) -> bool:
    """Return whether a mask, which is handed over as ``name``, hides something else in numbers than in booleans."""
    base, handed = _reply(bound, asked, name, as_floats=False)
    given, _ = _reply(bound, asked, name, as_floats=True)
    return handed and isinstance(base, Reply) and isinstance(given, Reply) and not same(given, base)


def _reply(bound: Bound, asked: Request, name: str, as_floats: bool) -> tuple[Reply | Failure, bool]:
    """Return what comes of a call, and whether it was handed booleans as ``name``, which may be made floats."""
    handed = False

    def called(function: Callable[..., Any], _: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal handed
        mask = kwargs.get(name)
        if isinstance(mask, Tensor) and mask.dtype == torch.bool:
            handed = True
            hidden = mask if bound.masks[name].endswith(DROPS) else ~mask
            x = next(x for x in tree_leaves((args, kwargs)) if isinstance(x, Tensor) and x.is_floating_point())
            kwargs = {**kwargs, name: x.new_zeros(mask.shape).masked_fill(hidden, LOW)} if as_floats else kwargs
        return function(*args, **kwargs)

    with calls_as(bound.place, called):
        return reply(bound.draft.implementation(bound.place.module), asked), handed
