"""Arguments that are a list or set, whatever they are called: ``keep``, the numbers of the layers that are kept."""

import ast
from typing import Any

from attnconf.conformance.inference.trials.calling import call_of
from attnconf.conformance.source.syntax import tree_of_function

MAKERS = {"set", "frozenset", "sorted"}


def taken_as_items(thing: Any, name: str) -> bool:
    """Return whether a call looks for items in an argument, or puts these in order: a mask is a tensor, and no list."""
    return any(_of_items(node, name) for node in ast.walk(tree_of_function(call_of(thing))))


def _of_items(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Compare):
        pairs = zip(node.ops, node.comparators, strict=True)
        return any(isinstance(op, ast.In | ast.NotIn) and _is(right, name) for op, right in pairs)
    if isinstance(node, ast.Call) and ast.unparse(node.func) in MAKERS:
        return any(_is(given, name) for given in node.args)
    return False


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
