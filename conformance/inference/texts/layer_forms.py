"""How a layer, a stack or a model is called: which parameter gets what, by names where they say it."""

import inspect
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.inference.texts.language_models import with_targets
from attnconf.conformance.inference.trials.calling import (
    CACHE,
    MASK,
    POSITIONS,
    SEGMENTS,
    THREE,
    Form,
    Slot,
    parameters,
    slot_of,
)
from attnconf.conformance.inference.words.angle_names import is_table, kind_of, role_of
from attnconf.conformance.inference.words.vocabulary import INPUTS as NAMES
from attnconf.conformance.inference.words.vocabulary import meanings, snake

MODES = {"training": "config.training", "deterministic": "not config.training"}  # flags of a call
_MEMORY = (
    r"(.*_)?(mem(ory)?|src|source|enc(oder)?(_?(out(put)?s?|states?|hidden_?states?))?|context|cond|encoded)(_.*)?"
)
_TARGET = r"(.*_)?(tgt|trg|target|dec(oder)?(_?in(put)?s?)?|answer|y)(_.*)?"
_SOURCE = r"(.*_)?(src|source|enc(oder)?(_?in(put)?s?)?|question|x)(_.*)?"


def layer_forms(component: str, thing: Any) -> Iterator[Form]:
    """Yield the forms in which a layer or a model may be called, the likeliest first."""
    return with_targets(_forms(component, thing), component)


def _forms(component: str, thing: Any) -> Iterator[Form]:
    named = [p for p in parameters(thing) if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    starred = any(p.kind == p.VAR_POSITIONAL for p in parameters(thing))
    wanted = COMPONENTS[component].inputs
    if not named:
        plain = tuple(Slot(role, role, positional=True) for role in wanted)
        yield from (Form(plain), Form((*plain, MASK))) if starred else (Form(plain),)
        return
    inputs = [p for p in named if not ((p.default is p.empty and is_table(p.name)) or _no_tensor(p) or _left_alone(p))]
    ranked = sorted(inputs, key=lambda p: (_is_option(p), p.default is not p.empty))[: len(wanted)]
    inputs = [p for p in named if p in ranked]
    if len(inputs) < len(wanted):
        return
    together = _together(named) if len(wanted) == 1 else []
    if together:
        inputs, orders = together, [wanted * len(together)]
    else:
        orders = [wanted] if len(wanted) == 1 else _ordered([p.name for p in inputs], wanted)
    for roles in orders:
        slots = []
        for p in named:
            role = dict(zip((i.name for i in inputs), roles, strict=True)).get(p.name) or _option(p)
            if role:
                slots.append(slot_of(p, role))
        if starred and all(slot.role in wanted for slot in slots):  # behind them there may be a mask
            yield Form((*(replace(slot, positional=True) for slot in slots), MASK))
        yield Form(tuple(slots))


def _no_tensor(p: inspect.Parameter) -> bool:
    return isinstance(p.default, bool | int | float | str)


def _left_alone(p: inspect.Parameter) -> bool:
    """Return whether a parameter may be left out and is for what came before, or for positions, by its name."""
    plain = snake(p.name).strip("_")
    return p.default is None and re.fullmatch(rf"{CACHE}|{POSITIONS}", plain) is not None


def _together(named: list[inspect.Parameter]) -> list[inspect.Parameter]:
    """Return the inputs of a layer that takes queries, keys and values apart, which are all the same in it."""
    found = [p for p in named if set(THREE) & set(meanings(p.name, NAMES)) and "x" not in meanings(p.name, NAMES)]
    told = [role for p in found for role in THREE if role in meanings(p.name, NAMES)]
    return found if sorted(told) == sorted(THREE) else []


def _is_option(p: inspect.Parameter) -> bool:
    found = meanings(p.name, NAMES)
    if role_of(p) or kind_of(p.name) or _says_segments(p):
        return True
    return bool({"mask", "lengths", "want_weights", "causal", "average"} & set(found)) and "x" not in found


def _option(p: inspect.Parameter) -> str | None:
    """Return what a parameter that is no input is: a mask, unless its name or its default says otherwise."""
    found = meanings(p.name, NAMES)
    if role_of(p) or kind_of(p.name):
        return role_of(p) or None
    if _says_segments(p):
        return "segments"
    for role in ("lengths", "want_weights", "average"):
        if role in found:
            return role
    if "causal" in found and (isinstance(p.default, bool) or (p.default is None and _is_flag(p))):
        return "causal"
    if isinstance(p.default, bool):
        return next((role for role in MODES if role in found), None)
    if _no_tensor(p) or _left_alone(p):
        return None
    return "mask"


def _says_segments(p: inspect.Parameter) -> bool:
    """Return whether a parameter has to be given, and says of which segment each token is: ours are of the first."""
    return p.default is p.empty and re.fullmatch(SEGMENTS, snake(p.name)) is not None


def _is_flag(p: inspect.Parameter) -> bool:
    """Return whether an argument that may be None says that it is true or false; else it may be a mask."""
    return "bool" in str(p.annotation).lower() or re.match(r"(is|use)_", snake(p.name)) is not None


def _ordered(names: list[str], wanted: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return which of two inputs is which: as the names say where they do, else in both orders."""
    first, second = (snake(n) for n in names)
    if wanted == ("source", "target"):
        if re.fullmatch(_TARGET, first) and re.fullmatch(_SOURCE, second):
            return [("target", "source")]
        return [wanted] if re.fullmatch(_TARGET, second) else [wanted, wanted[::-1]]
    if re.fullmatch(_MEMORY, second) and not re.fullmatch(_MEMORY, first):
        return [wanted]
    if re.fullmatch(_MEMORY, first) and not re.fullmatch(_MEMORY, second):
        return [wanted[::-1]]
    return [wanted, wanted[::-1]]


def about_memory(name: str) -> bool:
    """Return whether the name of an argument says that it is about what is attended to, not about what attends."""
    return re.fullmatch(_MEMORY, snake(name)) is not None
