"""What code asks of a configuration that nothing in its file makes: entries, by the instructions that read them."""

import dis
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from attnconf.conformance.inference.words.vocabulary import meanings
from attnconf.conformance.source.source_text import reached

USUAL = {"dropout": 0.0, "eps": 1e-5, "padding": 0, "activation": "gelu"}
FLAGS = {"bias", "causal", "norm_first", "final", "affine"}
ASKED_FOR = {"embed", "heads", "hidden", "layers", "vocab", "max_len"}  # of one object, which holds sizes
LOADS = ("LOAD_FAST", "LOAD_DEREF", "LOAD_ATTR")
READS = ("LOAD_ATTR", "LOAD_METHOD")


@dataclass
class Asked:
    """Entries with the defaults that the code has for them, None without one; whether they are read as items."""

    entries: dict[str, Any] = field(default_factory=dict)
    by_item: bool = False


def asked_of(thing: Any, name: str) -> Asked:
    """Return what is asked of the object that is called ``name``, or kept as an attribute of that name."""
    return _asked_in((function.__code__ for function in reached(thing)), name)


def sizes_asked_of(thing: Any, name: str) -> set[str]:
    """Return what the sizes mean that a class itself asks a parameter of its constructor for, by their names."""
    start = getattr(vars(thing).get("__init__"), "__code__", None) if isinstance(thing, type) else None
    entries = {*_asked_in((start,), name).entries, *asked_of_kept(thing, name).entries} if start else ()
    return {meaning for entry in entries for meaning in meanings(entry)[:1] if meaning in ASKED_FOR}


def asked_of_kept(thing: Any, name: str) -> Asked:
    """Return what is asked of the object that is kept as an attribute of this name."""
    return _asked_in((function.__code__ for function in reached(thing)), name, ("LOAD_ATTR",))


def _asked_in(codes: Iterable[CodeType], name: str, loads: tuple[str, ...] = LOADS) -> Asked:
    found = Asked()
    for each in (inner for code in codes for inner in codes_of(code)):
        code = list(dis.get_instructions(each))
        for i, one in enumerate(code[:-2]):
            if one.argval == name and one.opname.startswith(loads):
                _read(code[i + 1], code[i + 2], code[i + 3 : i + 4], found)
                _get(code[max(0, i - 2) : i], code[i + 1], code[i + 2], found)
    return found


def codes_of(code: CodeType) -> Iterator[CodeType]:
    """Yield code and the code of what is defined in it: what builds a list is a function of its own."""
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from codes_of(one)


def _read(then: Any, key: Any, default: list[Any], found: Asked) -> None:
    """Note the entry that instructions read: ``.key``, ``["key"]`` or ``.get("key", default)``."""
    if then.opname in READS and then.argval in ("get", "pop", "setdefault"):
        if key.opname == "LOAD_CONST" and isinstance(key.argval, str):
            given = default[0].argval if default and default[0].opname == "LOAD_CONST" else None
            found.by_item = True
            found.entries[key.argval] = found.entries.get(key.argval) or given
    elif then.opname in READS:
        found.entries.setdefault(then.argval, None)
    elif then.opname == "LOAD_CONST" and isinstance(then.argval, str) and key.opname.startswith("BINARY_SUBSCR"):
        found.by_item = True
        found.entries.setdefault(then.argval, None)


def _get(before: list[Any], key: Any, default: Any, found: Asked) -> None:
    """Note the flag that instructions read with a default, ``getattr(config, "key", False)``: it is on or off."""
    called = any(one.argval == "getattr" for one in before)
    constants = key.opname == default.opname == "LOAD_CONST"
    if called and constants and isinstance(key.argval, str) and isinstance(default.argval, bool):
        found.entries.setdefault(key.argval, default.argval)


def may_be_none(name: str, code: str) -> bool:
    """Return whether code compares what has a name with None: where nothing says what it is, it is that."""
    return re.search(rf"\b{re.escape(name)}[\"']?\]? is (not )?None\b", code) is not None


def start_of(name: str, size: int) -> Any:
    """Return the value of an entry that has none: what its name says, else ``size``."""
    for meaning in meanings(name):
        if meaning in USUAL:
            return USUAL[meaning]
        if meaning in FLAGS:
            return False
    return size
