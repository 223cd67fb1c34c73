"""Functions that are handed their weights: as tensors, each an argument, or together in a dict, list or tuple."""

import inspect
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from types import FunctionType
from typing import Any, get_origin

from attnconf.conformance.inference.binding import Place
from attnconf.conformance.inference.budgets import FEW
from attnconf.conformance.inference.building import Construction, Meanings
from attnconf.conformance.inference.calling import parameters, says_nothing
from attnconf.conformance.inference.configurations import configuration, own_dataclass, said_by
from attnconf.conformance.inference.construction import constructions
from attnconf.conformance.inference.module_sizes import names_read
from attnconf.conformance.inference.naming import role_of
from attnconf.conformance.inference.vocabulary import INPUTS, SIZES, meanings

TOGETHER = r"p|ps|par|params?|parameters|weights?|ws?|state|state_?dict|theta|variables|model|mha|layer|net"
MAKES = r"init|make|create|new|param|weight|build"
GENERATOR = ("torch.Generator()",)
RANDOM = {r"gen|generator|rng|g": GENERATOR, r"seed|key|random_?state": ("0",)}
ALWAYS = {"query", "key", "value", "x", "memory", "mask"}
# Shapes of a projection's weight, and of the output's.
SHAPES: Sequence[tuple[str, str]] = (
    ("config.num_heads * config.head_dim, config.embed_dim", "config.embed_dim, config.num_heads * config.head_dim"),
    ("config.num_heads, config.embed_dim, config.head_dim", "config.num_heads, config.head_dim, config.embed_dim"),
    ("config.embed_dim, config.num_heads, config.head_dim", "config.num_heads, config.head_dim, config.embed_dim"),
)
PARTS = {"qkv": 3, "kv": 2}
SMALL = 0.01  # a default below is an ε, whatever it is called


def takes_weights(thing: Any) -> bool:
    """Return whether a function is handed the weights of several projections, or something called so."""
    if not isinstance(thing, FunctionType):
        return False
    return len(_tensors(thing)) >= 2 or bool(_together(thing))


def takes_together(thing: Any) -> bool:
    """Return whether a function is handed weights together, in a dict or the like."""
    return isinstance(thing, FunctionType) and bool(_together(thing))


def taken(thing: Any) -> set[str]:
    """Return the parameters of a function that are weights, sizes or configurations, and no inputs."""
    if not takes_together(thing):
        return set()
    configured = {p.name for p in parameters(thing) if "config" in meanings(p.name, SIZES)}
    return {*_together(thing)[:1], *_fixed(thing, {m: (m,) for m in SIZES}), *configured}


def functional(place: Place, table: Meanings) -> Iterator[Construction]:
    """Yield modules that hold the weights which a function wants."""
    fixed = _fixed(place.thing, table)
    sizes = frozenset(m for _, m in fixed.values())
    for name, text in _configured(place, table):
        fixed[name] = (text, "config")
        sizes |= said_by(text, table)
    words = "".join(f", {name}={text}" for name, (text, _) in fixed.items())
    if len(_tensors(place.thing)) >= 2:
        for inner, out in SHAPES:
            held = ", ".join(f"{n}=torch.zeros({_shape(n, inner, out)})" for n in _tensors(place.thing))
            yield Construction(f"functional({place.name_in_text}, dict({held}){words})", (), sizes)
    for takes in _together(place.thing)[:1]:
        for made in _made(place, table):
            text = f'functional({place.name_in_text}, {made.text}, "{takes}"{words})'
            yield Construction(text, made.before, made.given | sizes)


def _tensors(thing: FunctionType) -> list[str]:
    """Return the parameters of a function that are weights or biases, by their names."""
    names = [p.name for p in parameters(thing) if p.default is p.empty or p.default is None]
    return [n for n in names if role_of(n) and not ALWAYS & set(meanings(n, INPUTS)) and not meanings(n, SIZES)]


def _together(thing: FunctionType) -> list[str]:
    """Return the parameters that may be all weights together: by their names, else by what they are said to be."""
    required = [p for p in parameters(thing) if p.default is p.empty]
    if len(required) < 2:
        return []
    named = [p.name for p in required if re.fullmatch(TOGETHER, p.name.lower().strip("_"))]
    return named or [p.name for p in required if _is_said(p, thing) and "config" not in meanings(p.name, SIZES)]


def _is_said(p: inspect.Parameter, thing: FunctionType) -> bool:
    """Return whether an annotation says that a parameter is a dict, or a named tuple of the file."""
    said = thing.__globals__.get(p.annotation, p.annotation) if isinstance(p.annotation, str) else p.annotation
    named = hasattr(said, "_fields") and getattr(said, "__module__", "") == thing.__module__
    return named or said is dict or get_origin(said) is dict


def _fixed(thing: FunctionType, table: Meanings) -> dict[str, tuple[str, str]]:
    """Return what the parameters get that are sizes, with what they mean."""
    found = {}
    for p in parameters(thing):
        known = [m for m in meanings(p.name, SIZES) if m in table and m not in ("config", "causal", "dropout")]
        taken = ALWAYS & set(meanings(p.name, INPUTS)) or p.name in _together(thing)
        if p.default is p.empty and known and not taken:
            found[p.name] = (table[known[0]][0], known[0])
        elif "eps" in table and isinstance(p.default, float) and 0 < p.default < SMALL:
            found[p.name] = (table["eps"][0], "eps")
    if "heads" in table and "heads" not in {m for _, m in found.values()}:
        found |= {name: (table["heads"][0], "heads") for name in _silent(thing)[:1] if name not in found}
    return found


def _configured(place: Place, table: Meanings) -> Iterator[tuple[str, str]]:
    """Yield the required parameters that are configurations of a class in the file, with how one is made."""
    for p in parameters(place.thing):
        named = "config" in meanings(p.name, SIZES)
        wanted = p.default is p.empty and p.name not in _together(place.thing)
        if wanted and (named or own_dataclass(p.annotation, place.module)):
            made = (text for text in configuration(p, table, place.module) if "theirs." in text)
            yield from ((p.name, text) for text in islice(made, 1))


def _silent(thing: FunctionType) -> list[str]:
    """Return the required parameters behind the weights whose names say nothing, in whatever language: sizes."""
    names = [p.name for p in parameters(thing) if p.default is p.empty]
    weights = {*_tensors(thing), *_together(thing)}
    last = max((at for at, name in enumerate(names) if name in weights), default=len(names))
    return [n for n in names[last + 1 :] if says_nothing(n) and not role_of(n)]


def _shape(name: str, inner: str, out: str) -> str:
    role = role_of(name) or ""
    if re.search(r"(^|_)b(ias)?(_|\d|$)|^b[qkvo]|bias", name.lower()):
        return "config.embed_dim" if role == "out" else f"{PARTS.get(role, 1)} * config.num_heads * config.head_dim"
    return out if role == "out" else f"{PARTS[role]} * {inner}" if role in PARTS else inner


def _made(place: Place, table: Meanings) -> Iterator[Construction]:
    """Yield calls of the file's other functions that may make the weights, those first that call the others."""

    def random(name: str, parameter: inspect.Parameter) -> Sequence[str]:
        texts = next((texts for pattern, texts in RANDOM.items() if re.fullmatch(pattern, name.lower())), ())
        return GENERATOR if texts and "Generator" in str(parameter.annotation) else texts

    own = {
        name: thing
        for name, thing in vars(place.module).items()
        if isinstance(thing, FunctionType) and thing.__module__ == place.module.__name__ and thing is not place.thing
    }
    named = {name: thing for name, thing in own.items() if re.search(MAKES, name.lower())}
    silent = {name: thing for name, thing in own.items() if name not in named and not _takes_inputs(thing)}
    for makers in (named, silent):
        for name in sorted(makers, key=lambda name: sum(name in names_read(o) for o in makers.values())):
            yield from islice(constructions(f"theirs.{name}", makers[name], table, place.module, random), FEW)


def _takes_inputs(thing: FunctionType) -> bool:
    """Return whether a function is handed weights or inputs: it makes no weights."""
    wanted = [p.name for p in parameters(thing) if p.default is p.empty]
    return bool(_together(thing)) or any(
        {"x", "memory"} & set(meanings(n, INPUTS)) and not meanings(n, SIZES) for n in wanted
    )
