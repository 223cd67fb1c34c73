"""How features turn in pairs, and how sines and cosines of a table are laid out, in a syntax tree. Nothing is run."""

import ast
import re
from collections.abc import Sequence

from attnconf.reports.studies.reading.constants import constant
from attnconf.reports.studies.reading.values import last_name

JOINS = {"cat", "concat", "concatenate", "hstack"}
HALF = re.compile(r"\[\.\.\., (:[^:]*// 2|[^:]*// 2:|:(half|d)\w*|(half|d)\w*:)\]$")
AXES_OF_HALVES = re.compile(r"\((j|two|r) d\)")
AXES_OF_NEIGHBOURS = re.compile(r"\((d|n|f) (r|j|two)\)")
SINES = re.compile(r"sin(?!us)")  # but for "sinusoid"
AXIS_OF_ITS_OWN = re.compile(r"expand_dims|unsqueeze|None\]")


def every_other(node: ast.AST) -> bool:
    """Return whether a node takes every other feature: x[..., 1::2]."""
    if not isinstance(node, ast.Subscript) or "arange" in ast.unparse(node.value):
        return False
    places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return any(isinstance(one, ast.Slice) and constant(one.step) == 2 for one in places)


def neighbours(node: ast.AST) -> bool:
    """Return whether a node takes features two by two."""
    if not isinstance(node, ast.Call):
        return every_other(node)
    name, text = last_name(node.func), ast.unparse(node)
    if name in ("reshape", "view", "unflatten"):
        return re.search(r"(-1|// 2), 2\)+$", text) is not None
    return name == "repeat_interleave" or (name in ("rearrange", "repeat") and bool(AXES_OF_NEIGHBOURS.search(text)))


def halves(node: ast.AST) -> bool:
    """Return whether a node takes half of the features, or puts the same twice, one behind the other."""
    if isinstance(node, ast.Subscript):
        return HALF.search(ast.unparse(node)) is not None
    if not isinstance(node, ast.Call):
        return False
    name, given = last_name(node.func), node.args
    if name in ("chunk", "split", "tensor_split"):
        return any(constant(one) == 2 for one in given) and "cache" not in ast.unparse(node)
    if name in JOINS and given and isinstance(given[0], ast.Tuple | ast.List) and len(given[0].elts) == 2:
        return ast.dump(given[0].elts[0]) == ast.dump(given[0].elts[1])
    return name == "rearrange" and AXES_OF_HALVES.search(ast.unparse(node)) is not None


def pairing(nodes: Sequence[ast.AST]) -> list[str]:
    """Return which two features turn together; nothing where the code shows none, or several."""
    every = [inner for node in nodes for inner in ast.walk(node)]
    if any(isinstance(node, ast.Call) and last_name(node.func) in ("view_as_complex", "polar") for node in every):
        return ["neighbours, as complex numbers"]
    found = [test.__name__ for test in (neighbours, halves) if any(map(test, every))]
    return found if len(found) == 1 else []


def table(nodes: Sequence[ast.AST]) -> list[str]:
    """Return how sines and cosines of a table are laid out."""
    every = [inner for node in nodes for inner in ast.walk(node)]
    assigned = [(target, node.value) for node in every if isinstance(node, ast.Assign) for target in node.targets]
    texts = {target.id: ast.unparse(value) for target, value in assigned if isinstance(target, ast.Name)}
    for node in every:
        if isinstance(node, ast.Call) and last_name(node.func) in JOINS and node.args:
            parts = node.args[0].elts if isinstance(node.args[0], ast.Tuple | ast.List) else []
            first, second = (*(texts.get(last_name(one), "") + ast.unparse(one) for one in parts), "", "")[:2]
            kinds = [bool(SINES.search(text)) - ("cos" in text) for text in (first, second)]
            if sorted(kinds) == [-1, 1]:
                alone = AXIS_OF_ITS_OWN.search(first + second)
                return ["in turn" if alone else "all sines first" if kinds[0] == 1 else "all cosines first"]
    return ["in turn"] if any(every_other(target) for target, _ in assigned) else []
