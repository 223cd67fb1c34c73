"""The options that constructors, functions and calls of a file have, turned one at a time."""

import ast
import copy
import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from attnconf.conformance.mutating.drawing import Calling, Numbers
from attnconf.conformance.source.syntax import expression_of, tree_of


def variants(text: str, module: ModuleType, mode: str = "eval") -> list[str]:
    """Return texts that build or call: the binding's own, and with each option in it turned, or left out.

    ``mode``: "eval" for an expression and the classes in it, "exec" for statements and the functions in them.
    """
    tree = expression_of(text) if mode == "eval" else tree_of(text)
    found = [ast.unparse(tree)]
    for call in [node for node in ast.walk(tree) if isinstance(node, ast.Call)]:
        kind = _own(call, module)
        if kind is None or isinstance(kind, type) != (mode == "eval"):
            continue
        before = list(call.keywords)
        for name, value in _options(kind):
            others = [k for k in before if k.arg != name]
            for given in ([ast.keyword(name, ast.Constant(value))], []):
                call.keywords = others + given
                found.append(ast.unparse(tree))
        call.keywords = before
    return list(dict.fromkeys(found))


def _own(call: ast.Call, module: ModuleType) -> Any:
    """Return the class or function of the file that is called, or None."""
    words = ast.unparse(call.func)
    return getattr(module, words.removeprefix("theirs."), None) if words.startswith("theirs.") else None


def _options(kind: Any) -> Iterator[tuple[str, Any]]:
    """Yield the options of a class or function with another value than their default."""
    try:
        parameters = list(inspect.signature(kind).parameters.values())
    except (TypeError, ValueError):
        return
    for p in parameters:
        if isinstance(p.default, bool):
            yield from ((p.name, value) for value in (True, False))
        elif isinstance(p.default, float) and "drop" in p.name:
            yield p.name, 0.4
        elif isinstance(p.default, float):
            yield p.name, p.default * 3
        elif isinstance(p.default, int):
            yield p.name, p.default + 1
        elif p.default is None:
            yield from ((p.name, value) for value in (2, 0.3))


def other_calls(kind: Any, calling: Calling) -> Iterator[Calling]:
    """Yield a call with each option that it leaves out: flags, numbers, masks, positions."""
    x = next((a for a in calling.args if isinstance(a, Tensor)), None)
    length = x.shape[-2] if x is not None and x.ndim > 1 else 4
    draw = Numbers(3)
    values = (
        draw.kept(length, length), torch.arange(length) + 2, 3, 0.7,
        torch.zeros(length, length, dtype=torch.float64).masked_fill(~draw.kept(length, length), float("-inf")),
    )  # fmt: skip
    for name, value in _call_options(kind, calling):
        for one in values if value is None else (value,):
            yield Calling(
                f"{calling.words}, {name}={named(one)}", calling.args, {**calling.kwargs, name: copy.copy(one)}
            )


def _call_options(kind: Any, calling: Calling) -> Iterator[tuple[str, Any]]:
    parameters = list(inspect.signature(kind.forward).parameters.values())[1 + len(calling.args) :]
    for p in parameters:
        if p.name in calling.kwargs or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            continue
        if isinstance(p.default, bool):
            yield p.name, not p.default
        elif p.default is None:
            yield p.name, None
        elif isinstance(p.default, int | float):
            yield p.name, p.default + 1


def named(x: Any) -> str:
    """Return an argument in a few words: its kind and shape, or its value."""
    if isinstance(x, Tensor):
        return f"{str(x.dtype).removeprefix('torch.')}{tuple(x.shape)}"
    return repr(x) if isinstance(x, bool | int | float | str | None) else type(x).__name__
