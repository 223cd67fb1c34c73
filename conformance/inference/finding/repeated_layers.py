"""What a file builds of a class that is judged, beside it: one layer that stands in a list again and again.

The class itself is handed layers of ours, each with weights of its own, so that nothing is seen of those of the file.
"""

import ast
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from torch import nn

from attnconf.conformance.inference.finding.builders import DOES
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.claims import said_in_file
from attnconf.conformance.source import source_text
from attnconf.conformance.source.source_text import code_reached, reached
from attnconf.conformance.source.syntax import tree_of

WEIGHTS = r"\b(Linear|Parameter|Embedding|MultiheadAttention|Conv\dd|LayerNorm|RMSNorm|Transformer\w+Layer)\b"
SHARES = r"shar(e[sd]?|ing)\b|same (weights|parameters|layer)|albert|universal|tied|recurr|again|one (layer|block)"
COPIES = r"deepcopy|clone"  # somewhere: each in the list may become another
TRIES = rf"_*({DOES}|check|compare|assert|verify|self_?test)"  # for itself, and nobody is handed what it builds
OWN = (
    r"\b(each|every|all)\b[^.;]{0,40}"
    r"\b((weights|parameters) of (its|their) own|(its|their) own (weights|parameters))\b"
)


def repeated(place: Place) -> tuple[list[str], list[str]]:
    """Return words on one layer in a list of several, elsewhere in the file: against its words, and else as open ends.

    Where the file says that layers share their weights, it means to.
    """
    said = " ".join(said_in_file(place.module))
    text = source_text.text_of_module(place.module)
    found = list(_repeated(text.text, place)) if text and not re.search(COPIES, text.text) else []
    if re.search(SHARES, said, re.IGNORECASE):
        return [], []
    return (found[:1], []) if re.search(OWN, said, re.IGNORECASE) else ([], found[:1])


def _repeated(text: str, place: Place) -> Iterator[str]:
    """Yield words on each list of layers in a function that no module calls, and that builds what is judged."""
    inside = {f.__name__ for f in reached(place.thing)} if isinstance(place.thing, type) else set()
    for function in _functions(tree_of(text), place.module):
        made = {t.id: n.value for n in ast.walk(function) if isinstance(n, ast.Assign)
                for t in n.targets if isinstance(t, ast.Name)}  # fmt: skip
        elements = (_element(node) for node in ast.walk(function))
        values = (made.get(one.id) if isinstance(one, ast.Name) else one for one in elements)
        aside = function.name in inside or re.match(TRIES, function.name)
        builds = not aside and re.search(rf"\b{place.name}\(", ast.unparse(function))
        for kind in (kind for value in values if builds and (kind := _kind(value, place.module))):
            yield f"`{function.name}` puts one {kind} into a list again and again: its layers share all weights"


def _functions(tree: ast.Module, module: ModuleType) -> Iterator[ast.FunctionDef]:
    """Yield the functions of a file, and the methods of its classes other than modules: those are judged as such."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node
        elif isinstance(node, ast.ClassDef) and not _is_module(vars(module).get(node.name)):
            yield from (n for n in node.body if isinstance(n, ast.FunctionDef))


def _is_module(thing: Any) -> bool:
    return isinstance(thing, type) and issubclass(thing, nn.Module)


def _element(node: ast.AST) -> ast.expr | None:
    """Return what stands in a list several times: ``[layer] * n``, ``[layer for _ in range(n)]``."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        one = next((side for side in (node.left, node.right) if isinstance(side, ast.List)), None)
        return one.elts[0] if one and len(one.elts) == 1 else None
    if isinstance(node, ast.ListComp | ast.GeneratorExp) and isinstance(node.elt, ast.Name):
        named = {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        return None if node.elt.id in named else node.elt
    return None


def _kind(value: ast.expr | None, module: ModuleType) -> str:
    """Return the class of the file with weights whose object an expression makes; "" where it makes none."""
    name = ast.unparse(value.func) if isinstance(value, ast.Call) else ""
    kind = vars(module).get(name)
    layer = _is_module(kind) and re.search(WEIGHTS, code_reached(kind))
    return name if layer else ""
