"""Ids, text and merges as tensors of numbers, so that the reply of every component is a tensor.

A foreign list or string may be of a class with other contents each time, so each is read once, into numbers.
``engine.text_codec`` reads the numbers.
"""

from collections.abc import Sequence
from operator import index
from typing import Any

import torch
from torch import Tensor

from attnconf.conformance.worker.refused import Refused, kind_of

MOST = 2**53  # whole numbers below are exact in float64
HALF, END = -1, -2  # the number behind each part of a merge; no character has it


def numbers(returned: Any, kind: str) -> Tensor:
    """Return foreign ids, text or merges as float64 numbers (n,): ids, or code points of characters.

    Raises Refused for an object of another kind, and whatever the foreign object raises.
    """
    found = {"ids": _ids, "text": _text, "merges": _merges}[kind](returned)
    return torch.tensor(found, dtype=torch.float64)


def _ids(returned: Any) -> list[int]:
    if isinstance(returned, Tensor) and returned.ndim == 1 and not returned.is_floating_point():
        returned = returned.tolist()
    if not isinstance(returned, list | tuple):
        raise Refused("protocol", f"returned {kind_of(returned)}, want a list of ids, or a 1-d tensor of integers")
    return [_id(x, at) for at, x in enumerate(returned)]


def _id(x: Any, at: int) -> int:
    if isinstance(x, bool) or not hasattr(type(x), "__index__"):
        raise Refused("protocol", f"id {at} is {kind_of(x)}, want an int")
    if not -MOST < index(x) < MOST:
        raise Refused("protocol", f"id {at} is too large for any vocabulary")
    return index(x)


def _text(returned: Any) -> list[int]:
    if not isinstance(returned, str):
        raise Refused("protocol", f"returned {kind_of(returned)}, want a str")
    return [ord(character) for character in returned]


def _merges(returned: Any) -> list[int]:
    if not isinstance(returned, list | tuple):
        raise Refused("protocol", f"returned {kind_of(returned)}, want a list of pairs of str")
    found = []
    for at, pair in enumerate(returned):
        if not isinstance(pair, list | tuple) or [isinstance(part, str) for part in pair] != [True, True]:
            raise Refused("protocol", f"merge {at} is {kind_of(pair)}, want a pair of str")
        found += [*_text(pair[0]), HALF, *_text(pair[1]), END]
    return found


def same_items(given: Sequence[Any], taken: Sequence[Any]) -> bool:
    """Return whether a list still has the very items it was made with."""
    return len(given) == len(taken) and all(one is other for one, other in zip(given, taken, strict=True))
