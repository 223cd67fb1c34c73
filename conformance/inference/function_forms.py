"""Functions that are handed their weights: as tensors, each an argument, or together in a dict, list or tuple."""

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from types import FunctionType
from typing import Any

from attnconf.conformance.inference.binding import Place
from attnconf.conformance.inference.building import Construction, Meanings
from attnconf.conformance.inference.calling import parameters
from attnconf.conformance.inference.construction import constructions
from attnconf.conformance.inference.naming import role_of
from attnconf.conformance.inference.vocabulary import INPUTS, SIZES, meanings

TOGETHER = r"p|ps|par|params?|parameters|weights?|ws?|state|state_?dict|theta|variables|model|mha|layer|net"
RANDOM = r"gen|generator|rng|g"
ALWAYS = {"query", "key", "value", "x", "memory", "mask"}
# Shapes of a projection's weight, and of the output's.
SHAPES: Sequence[tuple[str, str]] = (
    ("config.num_heads * config.head_dim, config.embed_dim", "config.embed_dim, config.num_heads * config.head_dim"),
    ("config.num_heads, config.embed_dim, config.head_dim", "config.num_heads, config.head_dim, config.embed_dim"),
    ("config.embed_dim, config.num_heads, config.head_dim", "config.num_heads, config.head_dim, config.embed_dim"),
)
PARTS = {"qkv": 3, "kv": 2}
AT_MOST = 6  # ways to call one function that may make the weights


def takes_weights(thing: Any) -> bool:
    """Return whether a function is handed the weights of several projections, or something called so."""
    if not isinstance(thing, FunctionType):
        return False
    return len(_tensors(thing)) >= 2 or bool(_together(thing))


def functional(place: Place, table: Meanings) -> Iterator[Construction]:
    """Yield modules that hold the weights which a function wants."""
    fixed = _fixed(place.thing, table)
    sizes = frozenset(m for _, m in fixed.values())
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
    """Return the parameters that may be all weights together."""
    required = [p.name for p in parameters(thing) if p.default is p.empty]
    return [n for n in required if re.fullmatch(TOGETHER, n.lower().strip("_"))] if len(required) > 1 else []


def _fixed(thing: FunctionType, table: Meanings) -> Mapping[str, tuple[str, str]]:
    """Return what the parameters get that are sizes, with what they mean."""
    found = {}
    for p in parameters(thing):
        known = [m for m in meanings(p.name, SIZES) if m in table and m not in ("config", "causal", "dropout")]
        taken = ALWAYS & set(meanings(p.name, INPUTS)) or p.name in _together(thing)
        if p.default is p.empty and known and not taken:
            found[p.name] = (table[known[0]][0], known[0])
    return found


def _shape(name: str, inner: str, out: str) -> str:
    role = role_of(name) or ""
    if re.search(r"(^|_)b(ias)?(_|\d|$)|^b[qkvo]|bias", name.lower()):
        return "config.embed_dim" if role == "out" else f"{PARTS.get(role, 1)} * config.num_heads * config.head_dim"
    return out if role == "out" else f"{PARTS[role]} * {inner}" if role in PARTS else inner


def _made(place: Place, table: Meanings) -> Iterator[Construction]:
    """Yield calls of the file's other functions that may make the weights."""

    def random(name: str, parameter: inspect.Parameter) -> Sequence[str]:
        return ("torch.Generator()",) if re.fullmatch(RANDOM, name.lower()) else ()

    for name, thing in vars(place.module).items():
        own = isinstance(thing, FunctionType) and thing.__module__ == place.module.__name__
        if own and thing is not place.thing and re.search(r"init|make|create|new|param|weight|build", name.lower()):
            yield from islice(constructions(f"theirs.{name}", thing, table, place.module, random), AT_MOST)
