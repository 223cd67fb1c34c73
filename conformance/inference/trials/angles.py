"""Arguments that are tables of angles, by which queries and keys are turned: whoever calls a layer has made them.

A layer is given such as turn nothing, cosines 1 and sines 0, so that all else of it is judged as that of any other.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.generated.positions import cosines, counted, sines, turns
from attnconf.conformance.inference.trials.calling import Form, Slot
from attnconf.conformance.inference.words.angle_names import PLACES, ROLE, START, kind_of

SPACE = {"cosines": cosines, "sines": sines, "turns": turns, "counted": counted, "torch": torch}
# How a table stands, x being (B, L, …): its axes beside those of tokens and features; whether a pair has one or two.
AXES = ("", "[None]", "[None, None]", "[None, :, None]", "[:, None]")
NUMBERS = "counted(x.shape[1], None, x)"  # of the positions of x
COUNTED = (f"{NUMBERS}.expand(x.shape[:2])", NUMBERS)
SHAPES = tuple((axes, width) for axes in AXES for width in ("E", "E // 2"))


def in_every_shape(form: Form) -> Iterator[Form]:
    """Yield a form with its tables, and positions, in every shape that code may want; as it is where it has none.

    Tables that may be None are left out in the end: a part of the code may ask whether they are there.
    """
    if any(slot.role == PLACES for slot in form.slots):
        for numbers in COUNTED:
            placed = (replace(s, role=PLACES + numbers) if s.role == PLACES else s for s in form.slots)
            yield from in_every_shape(Form(tuple(placed)))
        return
    names = [slot.name for slot in form.slots if slot.role == ROLE]
    if not names:
        yield form
    for tables in _tables([kind_of(name) for name in names]) if names else ():
        given = dict(zip(names, tables, strict=True))
        yield Form(tuple(replace(s, role=ROLE + given[s.name]) if s.name in given else s for s in form.slots))
    if names and all(s.by_name for s in form.slots if s.name in names):
        yield Form(tuple(s for s in form.slots if s.name not in names))


def _tables(kinds: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield what arguments of these kinds may get, all in one shape: as two where there is one for both, or complex."""
    for axes, width in SHAPES:
        ones, zeros = (f"{what}(x, {width}){axes}" for what in ("cosines", "sines"))
        one = {"cos": ones, "sin": zeros, "both": f"({ones}, {zeros})"}
        if "both" in kinds and "//" in width:
            yield tuple({**one, "both": f"turns(x, {width}){axes}"}[kind] for kind in kinds)
        yield tuple(one[kind] for kind in kinds)
        if "both" in kinds and "//" in width:
            yield tuple({**one, "both": f"torch.stack([{ones}, {zeros}], -1)"}[kind] for kind in kinds)


def has_tables(form: Form) -> bool:
    """Return whether a form has tables of angles, by which features are turned in pairs."""
    return any(slot.role.startswith(ROLE) for slot in form.slots)


def text_of(slot: Slot, x: str, width: str) -> str | None:
    """Return what a slot for a table gets, or for where the tokens begin or stand; None for any other slot."""
    if slot.role == START:
        return "0"
    if not slot.role.startswith((ROLE, PLACES)):
        return None
    return re.sub(r"\bE\b", width, re.sub(r"\bx\b", x, slot.role.removeprefix(ROLE).removeprefix(PLACES)))


def given(slot: Slot, inputs: Mapping[str, Tensor], width: int) -> Any:
    """Return what a slot for a table gets beside inputs (B, L, …), for heads of a width; None for any other slot."""
    text = text_of(slot, "x", str(width))
    like = next(inputs[name] for name in ("target", "x", "ids") if name in inputs)
    return None if text is None else eval(text, {**SPACE, "x": like})


def shown(slot: Slot) -> str:
    """Return what a slot gets, for people."""
    return text_of(slot, "x", "E") or slot.role


def of_a_shape(failure: str) -> bool:
    """Return whether a failure is of a call with tables in one of their shapes, of which most have to fail."""
    return "called with" in failure and re.search(r"(cosines|turns|counted)\(x", failure) is not None


def told(form: Form) -> tuple[str, ...]:
    """Return words on the tables and the positions of a form; none where it has none."""
    names = [slot.name for slot in form.slots if slot.role.startswith(ROLE)]
    turns = "such as turn nothing are given (cosines 1, sines 0)"
    placed = [f"{slot.name}: 0, 1, … are given" for slot in form.slots if slot.role.startswith(PLACES)]
    return (*((f"{', '.join(names)}: tables of angles; {turns}",) if names else ()), *placed)


def in_another_shape(form: Form, ran: Sequence[Form]) -> bool:
    """Return whether a form differs in the shape of its tables alone from one that ran."""
    return _bare(form) != form and _bare(form) in [_bare(other) for other in ran]


def _bare(form: Form) -> Form:
    roles = {s.name: role for s in form.slots for role in (ROLE, PLACES) if s.role.startswith(role)}
    return Form(tuple(replace(s, role=roles.get(s.name, s.role)) for s in form.slots))
