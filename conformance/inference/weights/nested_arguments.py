"""Weights that a function takes as several arguments, some of them nested: what its code asks each of them for.

``linear(x, **c_fc)`` asks for what ``linear`` wants besides x; ``for block in blocks`` goes through a list.
"""

import ast
import inspect
import re
from collections.abc import Iterator
from functools import lru_cache
from types import FunctionType

from attnconf.conformance.inference.trials.calling import CACHE, parameters
from attnconf.conformance.inference.weights.naming import WEIGHTS, role_of
from attnconf.conformance.inference.words.angle_names import is_table
from attnconf.conformance.inference.words.vocabulary import INPUTS, SIZES, meanings
from attnconf.conformance.source.syntax import tree_of_function

Nested = dict[str, "Nested"] | list["Nested"] | None  # None: a tensor
OF_WEIGHTS = rf"(.*_)?{WEIGHTS}"  # what is weights by its name
TABLES = r"w[tp]e(_.*)?|.*emb.*"
GOES = {"enumerate", "zip", "reversed", "list", "tuple"}  # what a loop goes through something with
DEEP = 6  # functions that hand weights on to each other


@lru_cache(64)
def nested_arguments(thing: FunctionType) -> dict[str, Nested]:
    """Return what the arguments hold that are weights, where there are several, and some hold weights by names."""
    required = [p.name for p in parameters(thing) if p.default is p.empty]
    wanted = [n for n in required if not _is_something_else(n)]
    held = {n: _asked(thing, n, DEEP) for n in wanted}
    nested = [n for n in wanted if held[n] and _unpacks(held[n])]
    tensors = [n for n in wanted if held[n] is None and not meanings(n, SIZES)]
    named = [n for n in tensors if role_of(n) or re.fullmatch(TABLES, n.lower())]
    if len(nested) > 1:
        named += [n for n in tensors if re.fullmatch(OF_WEIGHTS, n.lower()) or _is_indexed(thing, n, required)]
    found = {n: held[n] for n in wanted if n in {*nested, *named}}
    return found if nested and 1 < len(found) < len(required) else {}


def _is_something_else(name: str) -> bool:
    """Return whether the name of an argument says that it is an input, a cache, a configuration or angles."""
    said = meanings(name, INPUTS) or "config" in meanings(name, SIZES)
    return bool(said or re.fullmatch(CACHE, name.lower()) or is_table(name))


def _is_indexed(thing: FunctionType, name: str, by: list[str]) -> bool:
    """Return whether an argument is indexed by others, as a table by ids."""
    read = (
        one
        for one in ast.walk(tree_of_function(thing))
        if isinstance(one, ast.Subscript) and ast.unparse(one.value) == name
    )
    return any(isinstance(of, ast.Name) and of.id in by for one in read for of in ast.walk(one.slice))


def _unpacks(held: Nested) -> bool:
    """Return whether all that is asked for are tensors in dicts, called as weights are."""
    if isinstance(held, list):
        return bool(held) and all(map(_unpacks, held))
    return held is not None and all(
        _unpacks(one) if one else re.fullmatch(f"{OF_WEIGHTS}|{TABLES}", name.lower()) or role_of(name)
        for name, one in held.items()
    )


def _asked(thing: FunctionType, here: str, deep: int) -> Nested:
    """Return what a function asks an expression for: ``here`` as it stands in its code."""
    found: dict[str, Nested] = {}
    for one in ast.walk(tree_of_function(thing)) if deep else ():
        if isinstance(one, ast.Call) and (called := _own(thing, one)):
            for name, into in _handed(called, one, here):
                held = _asked(called, into, deep - 1)
                if not name and isinstance(held, list):
                    return held
                found |= {name: held} if name else held if isinstance(held, dict) else {}
        elif isinstance(one, ast.For | ast.comprehension) and (each := _each(one, here)):
            return [_asked(thing, each, deep - 1)]
        elif key := _key(one, here):
            found[key] = _asked(thing, ast.unparse(one), deep - 1)
    return found or None


def _key(one: ast.AST, here: str) -> str:
    """Return the key by which code reads from an expression; "" where it does not."""
    read = isinstance(one, ast.Subscript) and isinstance(one.slice, ast.Constant) and ast.unparse(one.value) == here
    key = one.slice.value if read else ""  # type: ignore[attr-defined]
    return key if isinstance(key, str) else ""


def _own(thing: FunctionType, call: ast.Call) -> FunctionType | None:
    """Return the function of the same file that is called."""
    known = inspect.unwrap(thing).__globals__
    called = known.get(call.func.id) if isinstance(call.func, ast.Name) else None
    return called if isinstance(called, FunctionType) and called.__module__ == thing.__module__ else None


def _handed(called: FunctionType, call: ast.Call, here: str) -> Iterator[tuple[str, str]]:
    """Yield the parameters that get an expression, or each an entry of it with its name: ``**here``."""
    names = [p.name for p in parameters(called)]
    yield from (("", n) for n, one in zip(names, call.args, strict=False) if ast.unparse(one) == here)
    yield from (("", one.arg) for one in call.keywords if one.arg and ast.unparse(one.value) == here)
    given = {*names[: len(call.args)], *(one.arg for one in call.keywords)}
    unpacked = [ast.unparse(one.value) for one in call.keywords if one.arg is None]
    if unpacked == [here]:
        yield from ((p.name, p.name) for p in parameters(called) if p.name not in given and _is_wanted(p))


def _is_wanted(p: inspect.Parameter) -> bool:
    """Return whether a parameter is asked of what is unpacked: one that need not be given only where it is a bias."""
    return p.default is p.empty or (p.default is None and bool(re.fullmatch("b|bias", p.name)))


def _each(loop: ast.For | ast.comprehension, here: str) -> str:
    """Return the name of one of what a loop goes through; "" where it goes through something else."""
    through, name = loop.iter, loop.target
    while isinstance(through, ast.Call) and isinstance(through.func, ast.Name) and through.func.id in GOES:
        args = [ast.unparse(one) for one in through.args]
        if here not in args:
            return ""
        if through.func.id in ("enumerate", "zip") and isinstance(name, ast.Tuple):
            name = name.elts[1 if through.func.id == "enumerate" else args.index(here)]
        through = through.args[args.index(here)]
    return name.id if isinstance(name, ast.Name) and ast.unparse(through) == here else ""
