"""How a function reads weights out of a dict: by keys in its code, or put together of what it is told."""

import ast
import inspect
import re
from collections.abc import Iterator
from types import FunctionType
from typing import TypeGuard

from attnconf.conformance.inference.trials.calling import CACHE
from attnconf.conformance.inference.weights.naming import WEIGHTS, role_of
from attnconf.conformance.source.source_text import reached
from attnconf.conformance.source.syntax import tree_of_function

PART, FIRST = '"part"', "0"  # what is told for a part of the keys: a name, or the number of the first layer
OF_WEIGHTS = rf"(^|[._]){WEIGHTS}$"  # the end of a key
SPOKEN = ast.Raise | ast.Assert  # strings in these are for people, and in calls of these
SAYS = {"print", "warn", "info", "debug", "warning", "log"}


def reads_weights(thing: FunctionType, name: str) -> bool:
    """Return whether a function reads by keys of weights from an argument: ``p["wq"]``, ``p[f"{layer}.b1"]``."""
    if re.fullmatch(CACHE, name.lower()):
        return False
    keys = [key for holder, key in _keys(tree_of_function(thing)) if holder == name]
    ends = [_end(key) for key in keys]
    return any(map(_is_put_together, keys)) or any(re.search(OF_WEIGHTS, end) or role_of(end) for end in ends if end)


def asks_by_key(thing: FunctionType, name: str) -> bool:
    """Return whether a function reads weights from an argument, or keys are put together in what it calls."""
    trees = map(tree_of_function, reached(thing))
    return reads_weights(thing, name) or any(_is_put_together(key) for tree in trees for _, key in _keys(tree))


def parts_of_keys(thing: FunctionType, above: tuple[FunctionType, ...] = ()) -> list[str]:
    """Return the arguments of a function without defaults that keys are put together of, in their order.

    That is done by it, or by a function of the file that it hands them on to; ``above``: those that it is called by.
    """
    names = {name for key in _put_together(tree_of_function(thing)) for name in _joined(key)}
    for called, handed in _calls(thing) if thing not in above else ():
        parts = parts_of_keys(called, (*above, thing))
        names |= {of for name, of in zip(inspect.signature(called).parameters, handed, strict=False) if name in parts}
    given = inspect.signature(inspect.unwrap(thing)).parameters.values()
    return [p.name for p in given if p.default is p.empty and p.name in names]


def _calls(thing: FunctionType) -> Iterator[tuple[FunctionType, list[str]]]:
    """Yield the functions of the file that a function calls, each with the names that it hands on, "" for no name."""
    for one in (one for one in ast.walk(tree_of_function(thing)) if isinstance(one, ast.Call)):
        called = thing.__globals__.get(one.func.id) if isinstance(one.func, ast.Name) else None
        if isinstance(called, FunctionType) and called.__module__ == thing.__module__:
            yield called, [of.id if isinstance(of, ast.Name) else "" for of in one.args]


def told_part(thing: FunctionType, name: str) -> str:
    """Return what a function gets for a part of the keys: a name where what makes the weights gets one, else 0.

    What text is added to is a name, too.
    """
    sums = (one for one in ast.walk(tree_of_function(thing)) if isinstance(one, ast.BinOp) and _end(one))
    if any(isinstance(side, ast.Name) and side.id == name for one in sums for side in (one.left, one.right)):
        return PART
    others = [f for f in thing.__globals__.values() if isinstance(f, FunctionType) and f.__module__ == thing.__module__]
    makers = [f for f in others if not any(reads_weights(f, given) for given in inspect.signature(f).parameters)]
    return PART if any(name in parts_of_keys(maker) for maker in makers) else FIRST


def _keys(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names of what is read by a key, or asked whether that is in it, each with the key."""
    for one in ast.walk(tree):
        if isinstance(one, ast.Subscript) and isinstance(one.value, ast.Name) and isinstance(one.ctx, ast.Load):
            yield one.value.id, one.slice
        elif isinstance(one, ast.Compare) and isinstance(one.ops[0], ast.In | ast.NotIn):
            yield from ((of.id, one.left) for of in one.comparators if isinstance(of, ast.Name))
        elif isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr == "get" and one.args:
            yield from ((of.id, one.args[0]) for of in [one.func.value] if isinstance(of, ast.Name))
        elif isinstance(one, ast.Call):  # what is handed on with a key
            handed = [key for key in one.args if _is_put_together(key)]
            yield from ((of.id, key) for of in one.args if isinstance(of, ast.Name) for key in handed)


def _is_put_together(one: ast.AST) -> TypeGuard[ast.expr]:
    return isinstance(one, ast.JoinedStr) or (isinstance(one, ast.BinOp) and bool(_end(one)))


def _put_together(tree: ast.AST) -> Iterator[ast.expr]:
    """Yield the strings that code puts together, but for those that people read."""
    for one in ast.iter_child_nodes(tree):
        called = one.func if isinstance(one, ast.Call) else one
        spoken = isinstance(one, SPOKEN) or getattr(called, "id", getattr(called, "attr", "")) in SAYS
        if _is_put_together(one):
            yield one
        elif not spoken:
            yield from _put_together(one)


def _joined(key: ast.AST) -> set[str]:
    """Return the names that a string is put together of; ``f"{x.shape}"`` says something of x, which is none."""
    said = isinstance(key, ast.Attribute | ast.Subscript) or (isinstance(key, ast.Call) and not _of_text(key))
    if isinstance(key, ast.Name) or said:
        return {key.id} if isinstance(key, ast.Name) else set()
    return {name for one in ast.iter_child_nodes(key) for name in _joined(one)}


def _of_text(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == "str"


def _end(key: ast.expr) -> str:
    """Return the end of a key, as far as it stands in the code; "" where it does not."""
    if isinstance(key, ast.JoinedStr) and key.values:
        return _end(key.values[-1])
    if isinstance(key, ast.BinOp) and isinstance(key.op, ast.Add):
        return _end(key.right) or _end(key.left)
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""
