"""How a callable is called: its inputs matched to ours by name where a name is unambiguous, else by trial."""

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from types import FunctionType
from typing import Any

from torch import nn

from attnconf.conformance.inference.words.angle_names import PLACES, ROLE, as_needed, kind_of, role_of
from attnconf.conformance.inference.words.keyword_arguments import handed_on
from attnconf.conformance.inference.words.vocabulary import INPUTS, SIZES, meanings, snake
from attnconf.conformance.source.signatures import parameters_of

ABOUT_CAUSALITY = {"causal", "bidirectional"}
THREE = ("query", "key", "value")
SIDES = (("height", "width"), ("h", "w"))  # names of numbers that are given together
# The name of what one call keeps for the next.
CACHE = r".*caches?|(layer_?)?past(_?(kv|key_?values?))?|past_?key_?values?|kv_?state"
POSITIONS = r"(cache_?)?positions?(_?ids)?|pos_?ids"
# The name of what says to which part of a text, a question or its answer, each token belongs.
SEGMENTS = r"(token_?type|segment|seg|sentence|token_segment)(_?(ids?|type|types|labels?))?s?"
# Words in the name of an option that say that it is neither a mask nor about causality.
TELLING = {
    "past", "cache", "caches", "cached", "kv", "prefix", "pos", "position", "positions", "offset", "kwargs", "layer",
    "state", "states", "index", "idx", "ids", "rotary", "rope", "freq", "freqs", "cos", "sin", "sinusoid", "verbose",
    "debug", "log", "print", "plot", "show", "trace", "record", "return", "returns", "output", "outputs",
    "save", "store", "flash", "fused", "sdpa", "checkpoint", "inplace", "device", "dtype", "generator",
    "rng", "seed", "name", "config", "batch", "first", "temp", "temperature", "scale", "gain", "gate", "alpha",
    "dropout", "norm", "normalize", "out", "static", "reset", "update", "hook", "path", "step", "steps",
}  # fmt: skip


@dataclass(frozen=True)
class Slot:
    """One parameter of a call and what it gets."""

    name: str
    role: str  # query, key, value, x, memory, mask, lengths, want_weights, average, causal, tokens, one, none, segments
    positional: bool = False
    required: bool = True
    by_name: bool = False


@dataclass(frozen=True)
class Form:
    """A way to call: what every parameter gets; parameters left at their defaults are not in it."""

    slots: tuple[Slot, ...]

    @property
    def roles(self) -> list[str]:
        return [slot.role for slot in self.slots]

    @property
    def called(self) -> str:
        """How something is called, for people."""
        return f"called with ({self.text(lambda slot: slot.role.removeprefix(ROLE).removeprefix(PLACES))}): "

    def of(self, role: str) -> list[Slot]:
        return [slot for slot in self.slots if slot.role == role]

    def named(self, name: str) -> Slot:
        """Return the slot of a parameter. Raises StopIteration where it is not in the form."""
        return next(slot for slot in self.slots if slot.name == name)

    def giving(self, name: str, role: str) -> "Form":
        """Return the form with something given to a parameter, which may have been left at its default."""
        if all(slot.name != name for slot in self.slots):
            return Form((*self.slots, Slot(name, role, required=False, by_name=True)))
        return Form(tuple(replace(slot, role=role) if slot.name == name else slot for slot in self.slots))

    def text(self, what: Callable[[Slot], str | None]) -> str:
        """Return the arguments, where ``what`` says what a slot gets; None leaves it at its default."""
        parts, named = [], False
        for slot in self.slots:
            given = what(slot)
            if given is None:
                named = named or not slot.required
                continue
            leading = slot.required and not named and not slot.by_name and slot.role in (*THREE, "x", "memory")
            positional = slot.positional or leading
            named = named or not positional
            parts.append(given if positional else f"{slot.name}={given}")
        return ", ".join(parts)


MASK = Slot("mask", "mask", positional=True)  # one that *args may be


def call_of(thing: Any) -> Any:
    """Return the function that is called: of a class or a module the method, else the thing itself."""
    own = own_method(thing) or "forward"
    if getattr(thing, "forward", None) is nn.Module.forward:  # a module that is called by a method alone
        return getattr(thing, own)
    methods = (n for n in ("forward", "__call__") if n in dir(thing)) if isinstance(thing, type) else iter(("forward",))
    return getattr(thing, next(methods, own), thing)


def own_method(thing: Any) -> str | None:
    """Return the name of the first method of a class, which cannot be called itself, that takes an input; or None."""
    for name, method in vars(thing).items() if isinstance(thing, type) else ():
        if isinstance(method, FunctionType) and not name.startswith("_"):
            first = [meanings(p.name, INPUTS) for p in parameters_of(method)[1:2]]
            if first and {"x", *THREE} & set(first[0]):
                return name
    return None


def parameters(thing: Any) -> list[inspect.Parameter]:
    """Return the parameters of a call of a module, of another object, or of a function."""
    target = call_of(thing)
    found = parameters_of(target)
    method = isinstance(thing, type) and isinstance(inspect.getattr_static(target, "__func__", target), FunctionType)
    found = as_needed(found[1:] if method else found, target)  # whatever it calls itself
    return [*found, *handed_on(thing, found)] if isinstance(thing, nn.Module) else found


def says_nothing(name: str) -> bool:
    """Return whether the name of an option tells nothing of what it is for."""
    sizes = set(meanings(name, SIZES)) - ABOUT_CAUSALITY
    return not meanings(name, INPUTS) and not sizes and not telling(name)


def telling(name: str) -> bool:
    """Return whether the name of an option says that it is neither a mask nor about causality."""
    plain = snake(name)
    return bool(TELLING & set(re.split(r"[_\d]+", plain)))


def attention_forms(thing: Any) -> Iterator[Form]:
    """Yield the forms in which attention may be called, the likeliest first."""
    given = parameters(thing)
    named = [p for p in given if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    starred = any(p.kind == p.VAR_POSITIONAL for p in given)
    if not named and starred:  # *args says nothing
        for every in (THREE, ("x",), (*THREE, "mask"), ("x", "mask")):
            yield Form(tuple(Slot(role, role, positional=True) for role in every))
        return
    sides = _sides(named)
    options = [slot for p in named if (slot := sides.get(p.name) or _option(p)) is not None]
    inputs = [p for p in named if p.name not in sides and _option(p) is None and not _left_alone(p)]
    for roles in _attention_roles(inputs):
        if starred and not options and len(roles) == len(inputs):  # behind the others there may be a mask
            yield Form((*(Slot(p.name, r, True) for p, r in zip(inputs, roles, strict=True) if r), MASK))
        slots = [slot_of(p, role) for p, role in zip(inputs, roles, strict=True) if role]
        order = {p.name: i for i, p in enumerate(named)}
        yield Form(tuple(sorted([*slots, *options], key=lambda slot: order[slot.name])))


def _sides(named: Sequence[inspect.Parameter]) -> dict[str, Slot]:
    """Return the two numbers that say how high and how wide the image is whose pixels are the tokens, by their names.

    As good as any is an image that is one column wide.
    """
    required = {snake(p.name): p for p in named if p.default is p.empty}
    for high, wide in SIDES:
        if high in required and wide in required and len(required) > 2:
            pair = ((required[high], "tokens"), (required[wide], "one"))
            return {p.name: slot_of(p, role) for p, role in pair}
    return {}


EITHER = r"look_?ahead"  # it looks ahead, or a mask against looking ahead is used


def polarities(form: Form) -> list[dict[str, str]]:
    """Return what flags for causality may get that have to be given: on where attention is causal, or off."""
    required = [slot.name for slot in form.of("causal") if slot.required]
    given = ("config.causal", *(("not config.causal",) if any(map(either, required)) else ())) if required else ("",)
    return [dict.fromkeys(required, expression) for expression in given]


def either(name: str) -> bool:
    """Return whether a flag of that name is for causality, but may be on where attention is causal or where not."""
    return re.fullmatch(EITHER, snake(name).strip("_")) is not None


def slot_of(p: inspect.Parameter, role: str) -> Slot:
    """Return the slot of a parameter, which gets it by its name where it takes a keyword alone."""
    return Slot(p.name, role, p.kind == p.POSITIONAL_ONLY, p.default is p.empty, p.kind == p.KEYWORD_ONLY)


def _option(p: inspect.Parameter) -> Slot | None:
    """Return the slot of a parameter that is no input, where its name says so."""
    found = meanings(p.name, INPUTS)
    if role_of(p):
        return slot_of(p, role_of(p))
    for role in ("lengths", "want_weights", "average", "mask", "causal"):
        if role not in found or (role == "mask" and any(r in found for r in THREE)):
            continue
        if role == "mask" and isinstance(p.default, bool):
            role = "causal"
        return slot_of(p, role)
    return None


def _left_alone(p: inspect.Parameter) -> bool:
    """Return whether a parameter may stay at its default: it is no input, or one of many that are not needed."""
    if p.default is p.empty:
        return False
    found = meanings(p.name, INPUTS)
    if kind_of(p.name) or re.search(r"past|cache|position|kwargs|layer|state_dict|index|rotary|freq", p.name.lower()):
        return True
    inputs = {*THREE, "x", "memory"} & set(found)
    return not (inputs or (p.default is None and not found)) or isinstance(p.default, bool | int | float | str)


def _attention_roles(inputs: Sequence[inspect.Parameter]) -> Iterator[tuple[str, ...]]:
    """Yield what each input may be. Where the names are unambiguous they are the contract, and there is one answer."""
    names = [meanings(p.name, INPUTS) for p in inputs]
    certain = [next((role for role in THREE if role in found), "") for found in names]
    required = [p.default is p.empty for p in inputs]
    if sorted(r for r in certain if r) == sorted(THREE):
        others = ["mask" if says_nothing(p.name) else "none" for p in inputs]
        yield tuple(r or (o if need else "") for r, o, need in zip(certain, others, required, strict=True))
        return
    count = max(sum(required), 1)
    read = len(names) > 1 and bool({"memory", *THREE} & set(names[1]))  # its name says that it is attended to
    if len(inputs) == 1:
        yield ("x",)
    elif count == 1 and len(inputs) >= 2:
        yield ("x", "memory", *[""] * (len(inputs) - 2))
        yield ("x", "" if read else "mask", *[""] * (len(inputs) - 2))
    elif count == 2:
        rest = [""] * (len(inputs) - 2)
        if "memory" in names[0] and "memory" not in names[1]:
            yield ("memory", "x", *rest)
        yield ("x", "memory", *rest)
        yield ("memory", "x", *rest)
        if not read:
            yield ("x", "mask", *rest)
    elif count == 3:
        rest = [""] * (len(inputs) - 3)
        for order in permutations(THREE):
            yield (*order, *rest)
        yield ("x", "memory", "mask", *rest)
    elif count == 4:
        rest = [""] * (len(inputs) - 4)
        for order in permutations(THREE):
            yield (*order, "mask", *rest)
