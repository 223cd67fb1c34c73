"""Methods that put what is kept into another order of samples, as a search with beams wants it: each gets its own."""

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import ModuleType
from typing import Any

from torch import Tensor

from attnconf.conformance.source.signatures import parameters_of

NAMES = (
    r"_?(reorder|rearrange|select|permute|index_select|pick)"
    r"(_(the_)?(cache|state|incremental_state|past|kv|beams?|rows|samples|batch))?"
)
ORDER = r"((new|beam|batch|sample)_?)*(order|idx|idxs|index|indices|perm(utation)?|rows|parents?|beams?|picks?)"
Reorder = Callable[[Any, Tensor], Any]  # of what is kept, and the order: what is kept then


def reorderings(kept: Any, owners: Sequence[Any]) -> Iterator[tuple[str, Reorder]]:
    """Yield (name, what reorders) of what is kept itself, and of objects that are given it beside an order."""
    for name in _named(kept):
        if len(_wanted(getattr(kept, name))) == 1:
            yield name, partial(_of_itself, name)
    for owner in owners:
        for name in _named(owner):
            wanted = _wanted(getattr(owner, name))
            orders = [one for one in wanted if re.fullmatch(ORDER, one)]
            if len(wanted) == 2 and len(orders) == 1:
                (other,) = (one for one in wanted if one not in orders)
                yield name, partial(_given, getattr(owner, name), other, orders[0])


def _of_itself(name: str, kept: Any, order: Tensor) -> Any:
    result = getattr(kept, name)(order)
    return kept if result is None else result


def _given(method: Callable[..., Any], what: str, which: str, kept: Any, order: Tensor) -> Any:
    result = method(**{what: kept, which: order})
    return kept if result is None else result


def _named(thing: Any) -> list[str]:
    own = vars(thing if isinstance(thing, ModuleType) else type(thing))
    if thing is None or isinstance(thing, Tensor | dict | list | tuple):
        return []
    return [name for name, x in own.items() if callable(getattr(thing, name)) and re.fullmatch(NAMES, name)]


def _wanted(method: Callable[..., Any]) -> list[str]:
    return [p.name for p in parameters_of(method) if p.default is inspect.Parameter.empty]
