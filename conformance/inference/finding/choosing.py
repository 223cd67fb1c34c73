"""Functions that choose one of several classes or functions, and compute nothing themselves.

Such a function hands on what it is given: in the order in which it gets it, all of it, and with nothing done to it.
"""

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import FunctionType

from attnconf.conformance.inference.finding.candidates import NAMES
from attnconf.conformance.inference.words.vocabulary import snake
from attnconf.conformance.source.syntax import last_name, tree_of_function

COMPUTES = ast.BinOp | ast.UnaryOp | ast.AugAssign | ast.For | ast.While | ast.With | ast.Lambda | ast.comprehension
Table = Sequence[tuple[str, str]]  # the words of a table, and the names of what stands under them


def chooses(thing: object) -> bool:
    """Return whether a function gives one of several things, or what that makes of the function's own arguments."""
    if not isinstance(thing, FunctionType):
        return False
    function = next((n for n in ast.walk(tree_of_function(thing)) if isinstance(n, ast.FunctionDef)), None)
    if function is None:
        return False
    done = [node for statement in _done(function.body) for node in ast.walk(statement)]
    returns = [way for node in done if isinstance(node, ast.Return) for way in _ways(node.value)]
    tables = dict(_tables(thing, done))
    looked_up = {n.id for n in done if isinstance(n, ast.Name) and n.id in tables}
    read = {node.id for node in done if isinstance(node, ast.Name)}
    given = [one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)]
    copies = [part for node in done if _is_part_of_a_dict(node) for part in ast.walk(node)]
    plain = not any(isinstance(node, COMPUTES) for node in done if node not in copies) and set(given) <= read
    several = len(returns) > 1 or bool(looked_up)
    set_so = [node for node in done if isinstance(node, ast.Assign)]
    own = {*given, *(last_name(target) for node in set_so for target in node.targets)}
    handed = bool(returns) and all(_hands_on(way, given, own) for way in returns)
    handed = handed and all(
        isinstance(n.value, ast.Dict) or n.value in copies or _hands_on(n.value, given, own) for n in set_so
    )
    return plain and several and handed and not any(_misnamed(tables[name]) for name in looked_up)


def _is_part_of_a_dict(node: ast.AST) -> bool:
    """Return whether something is a dict without some of its entries: ``{k: v for k, v in given.items() if …}``."""
    if not isinstance(node, ast.DictComp) or len(node.generators) != 1:
        return False
    return ast.unparse(node.generators[0].target).strip("()") == f"{ast.unparse(node.key)}, {ast.unparse(node.value)}"


def _done(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield what statements do, those within conditions apart; what is raised is for people."""
    for statement in body:
        if isinstance(statement, ast.If):
            yield from _done([ast.Expr(statement.test), *statement.body, *statement.orelse])
        elif isinstance(statement, ast.Try):
            yield from _done([*statement.body, *statement.orelse, *(s for h in statement.handlers for s in h.body)])
        elif not isinstance(statement, ast.Raise | ast.Assert):
            yield statement


def _ways(value: ast.expr | None) -> Iterator[ast.expr | None]:
    """Yield what may be returned: of a condition each side."""
    if isinstance(value, ast.IfExp):
        yield from (*_ways(value.body), *_ways(value.orelse))
    else:
        yield value


def _hands_on(value: ast.expr | None, given: Sequence[str], own: Collection[str]) -> bool:
    """Return whether something is a name, looked up in a table, or made by such a thing of arguments in their order.

    ``own``: names of the function, whose attributes are numbers; only tables are asked for what they ``get``.
    """
    if isinstance(value, ast.Call):
        method = isinstance(value.func, ast.Attribute) and _root(value.func) in own and last_name(value.func) != "get"
        return not method and _hands_on(value.func, given, ()) and _handed(value, given)
    if isinstance(value, ast.Attribute):
        return _root(value) not in own
    return isinstance(value, ast.Name | ast.Subscript)


def _root(node: ast.expr) -> str:
    """Return the name that attributes are of: "nn" of nn.LayerNorm."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return last_name(node)


def _handed(call: ast.Call, given: Sequence[str]) -> bool:
    """Return whether a call gets arguments of the function as they are, in their order, and perhaps constants."""
    found = [one.value if isinstance(one, ast.Starred) else one for one in call.args]
    named = [one.value for one in call.keywords]
    places = [given.index(one.id) for one in found if isinstance(one, ast.Name) and one.id in given]
    plain = all(isinstance(one, ast.Name | ast.Attribute | ast.Constant) for one in (*found, *named))
    return plain and places == sorted(places)


def _tables(thing: FunctionType, done: Sequence[ast.AST]) -> Iterator[tuple[str, Table]]:
    """Yield the tables that a function can look in by name: those of its file, and its own."""
    for name, x in thing.__globals__.items():
        if isinstance(x, Mapping) and x and all(isinstance(v, type | FunctionType) for v in x.values()):
            yield name, [(str(key), value.__name__) for key, value in x.items()]
    for node in done:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict) and isinstance(node.targets[0], ast.Name):
            keys = [key.value if isinstance(key, ast.Constant) else "" for key in node.value.keys]
            yield node.targets[0].id, [(str(k), last_name(v)) for k, v in zip(keys, node.value.values, strict=True)]


def _misnamed(table: Table) -> bool:
    """Return whether something stands in a table under the word for another thing in it."""
    return any(
        _said(key) not in ("", _said(name)) and _said(key) in {_said(n) for _, n in table} for key, name in table
    )


def _said(word: str) -> str:
    return next((component for component, pattern in NAMES if re.search(pattern, snake(word))), "")
