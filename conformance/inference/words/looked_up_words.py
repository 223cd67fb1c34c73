"""Words that an argument is looked up by in a table of its file, or compared with: its name says nothing of them."""

import ast
from collections.abc import Iterator, Mapping
from itertools import islice
from types import FunctionType
from typing import Any

from attnconf.conformance.source.source_text import reached
from attnconf.conformance.source.syntax import tree_of_function

MOST = 6  # words that are tried


def words_for(thing: Any, name: str) -> list[str]:
    """Return the words that an argument of a class or function may be, those first that its code asks for first."""
    found = (word for function in reached(thing) for word in _words(function, name))
    return list(islice(dict.fromkeys(found), MOST))


def _words(function: FunctionType, name: str) -> Iterator[str]:
    """Yield the words of the tables that a function looks an argument up in, and those that it compares it with."""
    for one in ast.walk(tree_of_function(function)):
        if isinstance(one, ast.Subscript) and _is(one.slice, name):
            yield from _keys(function, one.value)
        elif isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr == "get":
            yield from _keys(function, one.func.value) if one.args and _is(one.args[0], name) else ()
        elif isinstance(one, ast.Compare) and _is(one.left, name):
            yield from _compared(function, one)


def _compared(function: FunctionType, one: ast.Compare) -> Iterator[str]:
    """Yield the words that something is compared with: one, several, or the keys of a table."""
    beside = one.comparators[0]
    if isinstance(one.ops[0], ast.Eq | ast.In):
        each = beside.elts if isinstance(beside, ast.Tuple | ast.List | ast.Set) else [beside]
        yield from (word.value for word in each if isinstance(word, ast.Constant) and isinstance(word.value, str))
        yield from _keys(function, beside)


def _is(one: ast.expr, name: str) -> bool:
    return ast.unparse(one) in (name, f"self.{name}")


def _keys(function: FunctionType, table: ast.expr) -> list[str]:
    """Return the words of a table of the file, or of one that is written out where it is asked."""
    known = function.__globals__.get(table.id) if isinstance(table, ast.Name) else None
    written = [key.value for key in table.keys if isinstance(key, ast.Constant)] if isinstance(table, ast.Dict) else []
    return [key for key in (known if isinstance(known, Mapping) else written) if isinstance(key, str)]
