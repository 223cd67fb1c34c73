"""Positions of keys beside those of queries, where a rotation is given both: keys are turned by their own."""

import inspect
import re
from collections.abc import Iterator
from dataclasses import replace
from types import FunctionType
from typing import Any

import torch

from attnconf.conformance.inference.trials.binding import Bound
from attnconf.conformance.inference.trials.probing import Failed, attempt
from attnconf.conformance.inference.trials.trial import drawn, same_numbers
from attnconf.conformance.source.signatures import parameters_of

OF_QUERIES = r"q(uery)?_pos(ition)?s?(_?ids|_?idx)?"
OF_KEYS = r"k(ey)?_pos(ition)?s?(_?ids|_?idx)?"
SHAPE = (2, 5, 5, 8)  # tokens on the second axis or the third


def with_key_positions(bound: Bound) -> Bound:
    """Return the binding, with a word where the argument for positions of keys does nothing, or is not understood."""
    names = [p.name for p in parameters_of(bound.place.thing)] if isinstance(bound.place.thing, FunctionType) else []
    of_keys = [name for name in names if re.fullmatch(OF_KEYS, name)]
    of_queries = [name for name in names if re.fullmatch(OF_QUERIES, name)]
    if bound.certified != "reference" or len(of_keys) != 1 or len(of_queries) != 1:
        return bound
    for turned in _turned(bound.place.thing, of_queries[0], of_keys[0]):
        own, first, second = turned
        if same_numbers(own, second) and not same_numbers(own, first):
            return bound
        if same_numbers(own, first):
            words = f"`{of_keys[0]}` has no effect: keys are turned by the positions of queries"
            return replace(bound, broken=(*bound.broken, words))
    return replace(bound, open_ends=(*bound.open_ends, f"what `{of_keys[0]}` does is not understood"))


def _turned(function: Any, of_queries: str, of_keys: str) -> Iterator[tuple[torch.Tensor, ...]]:
    """Yield keys turned by positions of their own, by those of the queries, and by theirs for both, where that runs."""
    x, here, there = drawn("x", *SHAPE), torch.arange(5), torch.arange(5) + 3
    for q, k in ((here, there), (here.expand(2, 5), there.expand(2, 5))):
        asked = ({of_queries: q, of_keys: k}, {of_queries: q, of_keys: q}, {of_queries: k, of_keys: k})
        try:
            inspect.signature(function).bind(x, x, **asked[0])
            found = [attempt(lambda at=at: function(x.clone(), x.clone(), **at)[1]) for at in asked]  # type: ignore[misc]
        except (Failed, TypeError):
            continue
        if all(isinstance(one, torch.Tensor) for one in found):
            yield tuple(found)
