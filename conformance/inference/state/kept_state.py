"""What a call keeps for the next one, handed back: the tokens after it have to be what they are in the whole.

This holds whatever the parameters are, and however many tokens come at once.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from attnconf.conformance.inference.state.reordered import reorderings
from attnconf.conformance.inference.trials.calling import POSITIONS, parameters
from attnconf.conformance.inference.trials.probing import Failed, attempt
from attnconf.conformance.inference.trials.trial import same_numbers
from attnconf.conformance.inference.words.angle_names import BEGINS
from attnconf.conformance.inference.words.vocabulary import snake

KEEPING = r"(use|return|output|keep|with)_?(cache|kv|past|presents?|state|key_?value)s?"
BEGIN = rf"{BEGINS}|start|offset|begin|n_?past|past_?len(gth)?|seen|cache_?len(gth)?"
LONG = 6
UNTRIED = "was not tried"
DIFFERS = "does not continue a sequence"
SEVERAL = f"{DIFFERS}: several tokens at once after it differ from those of the whole"
MIXED = f"{DIFFERS} of a batch whose order `{{}}` has changed: samples get what is kept of others"
NOT_ANEW = f"{DIFFERS}: the next sequence gets something of the one before"
FAILS = "takes one new token at a time: several fail"
WORST = ("", FAILS, SEVERAL, DIFFERS, UNTRIED)  # of what may be found, the best comes first


@dataclass(frozen=True)
class Came:
    """What a call gave: the outputs of all its tokens, all that came back, and how many calls it was of the file's."""

    out: Tensor
    returned: Any
    calls: int = 1

    def goes_on(self, returned: bool) -> bool:
        """Return whether something came back beside the output; or whether an object was written into once."""
        several = isinstance(self.returned, tuple | list) and len(self.returned) > 1
        return several if returned else self.calls == 1


Call = Callable[[Tensor, Any, int], Came | None]  # of tokens, what is kept of those before, and their number
Pick = Callable[[Any, Any], Any]  # what a call has to keep next, of what came back and what it kept
Rows = Callable[[int, int], dict[str, Any]]  # further arguments of a call: of the tokens before, and of those it gets
EMPTY: tuple[Callable[[], Any], ...] = (lambda: None, tuple, list)  # what a sequence may begin with
RETURNED: tuple[Pick, ...] = (lambda r, _: r[-1], lambda r, _: tuple(r[1:]), lambda r, _: r[1])
WRITTEN: tuple[Pick, ...] = (lambda _, kept: kept,)


def flags(thing: Any) -> dict[str, bool]:
    """Return what asks a call for what it keeps."""
    return {p.name: True for p in parameters(thing) if isinstance(p.default, bool) and re.fullmatch(KEEPING, p.name)}


def continued(
    call: Call, x: Tensor, new: Callable[[], Any], returned: bool, owners: Sequence[Any] | None = None
) -> str:
    """Return in which way tokens of (B, L, …) that come after others differ from those of the whole; "" where not.

    ``new`` gives what a sequence begins with: what calls return, or else write into, is handed to the next one. What a
    call does not take as it came is not tried. ``owners`` may have methods that put what is kept into another order;
    None: nothing is put into another order, as there is a memory that would have to be, too.
    """
    n, one = x.shape[1], _Sequence(call, x)
    alone = new() is not None and call(x[:, : n - 2], new(), 0) is None  # several are refused from the first on
    lengths = (1,) * n if alone else (n - 2, 1, 1)
    for pick in RETURNED if returned else WRITTEN:
        if found := one.in_parts(new(), pick, lengths, returned):
            another = _Sequence(call, x.roll(1, 0).flip(1)).in_parts(new(), pick, lengths, returned)
            if all(found) and another and not all(another):
                return NOT_ANEW
            if owners is not None and all(found) and (name := one.exchanged(new(), pick, lengths[0], owners)):
                return MIXED.format(name)
            several = one.in_parts(new(), pick, (n - 4, 3, 1), returned) if all(found) else []
            return UNTRIED if None in one.wholes.values() else _said(found, several)
    return UNTRIED


@dataclass
class _Sequence:
    """Tokens of (B, L, …), with what a call gives for as many of them as were asked for."""

    call: Call
    x: Tensor
    wholes: dict[int, Came | None] = field(default_factory=dict)

    def in_parts(self, kept: Any, pick: Pick, lengths: Sequence[int], returned: bool) -> list[bool]:
        """Return whether each part after the first is what it is in the whole; nothing where the second fails."""
        found, at = list[bool](), 0
        for length in lengths:
            if at and kept is None:
                return []  # nothing was kept
            came = self.call(self.x[:, at : at + length], kept, at)
            if came is None or not came.goes_on(returned):
                return [*found, False] if found else []
            if at:
                found.append(self._as_in_whole(came, at, at + length))
            kept, at = pick(came.returned, kept), at + length
        return found

    def exchanged(self, kept: Any, pick: Pick, first: int, owners: Sequence[Any]) -> str:
        """Return the name of a method that has to reorder what is kept of the first tokens and does not; "" if none."""
        began = self.call(self.x[:, :first], kept, 0)
        kept = None if began is None else pick(began.returned, kept)
        order = torch.arange(len(self.x)).roll(1)
        other = replace(self, x=self.x[order], wholes={})
        for name, reorder in reorderings(kept, owners) if len(order) > 1 else ():
            try:
                after = attempt(partial(reorder, kept, order))
            except Failed:
                return ""
            came = self.call(other.x[:, first : first + 1], after, first)
            return name if came is not None and not other._as_in_whole(came, first, first + 1) else ""
        return ""

    def _as_in_whole(self, came: Came, at: int, end: int) -> bool:
        whole = (
            self.wholes[end] if end in self.wholes else self.wholes.setdefault(end, self.call(self.x[:, :end], None, 0))
        )
        return whole is not None and same_numbers(came.out, whole.out[:, at:])


def _said(one: Sequence[bool], several: Sequence[bool]) -> str:
    """Return words on how tokens that come one by one, and several at once, are what they are in the whole."""
    if not all(one):
        return f"{DIFFERS}: {'a second token' if one[0] else 'a token'} after it differs from that of the whole"
    return "" if several and all(several) else SEVERAL if several else FAILS


def best(found: Iterable[str]) -> str:
    """Return the best of several words on one cache: of sizes and ways that are guessed, some do not fit."""
    least = UNTRIED
    for told in found:
        least = min(least, told, key=lambda each: WORST.index(each if each in WORST else DIFFERS))
        if not least:
            break
    return least


def places(thing: Any) -> list[Rows]:
    """Return what may tell a call where its tokens are, of how many came before and how many there are."""
    found: list[Rows] = [lambda at, tokens: {}]
    begin = [p.name for p in parameters(thing) if re.fullmatch(BEGIN, snake(p.name).strip("_"))][:1]
    each = [p.name for p in parameters(thing) if is_positions(p.name)][:1]
    if begin:
        found.insert(0, lambda at, tokens: dict.fromkeys(begin, at))
    for rows in (lambda t: t[None], lambda t: t) if each else ():
        found.insert(0, lambda at, tokens, rows=rows: dict.fromkeys(each, rows(torch.arange(at, at + tokens))))  # type: ignore[misc]
    return found


def is_positions(name: str) -> bool:
    """Return whether an argument is called after the positions of tokens."""
    return re.fullmatch(POSITIONS, snake(name).strip("_")) is not None


def keys_and_values(kept: Any) -> bool:
    """Return whether something that came back is two tensors of one shape, as the keys and values of a call are."""
    pair = list(kept) if isinstance(kept, tuple | list) else []
    tensors = len(pair) == 2 and all(isinstance(x, Tensor) and x.ndim >= 3 for x in pair)
    return tensors and pair[0].shape == pair[1].shape


def containers(call: Callable[[Any], Any]) -> Iterator[Callable[[], Any]]:
    """Yield dict and list, where a call that is handed an empty one of the caller's writes keys and values into it."""
    for kind in (dict[Any, Any], list[Any]):
        written = kind()
        call(written)
        shapes = [x.shape for x in tree_leaves(written) if isinstance(x, Tensor) and x.ndim >= 3]
        if len(shapes) > len(set(shapes)):
            yield kind
