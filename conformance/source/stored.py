"""Parameters of a constructor that are stored, and read by nobody."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from typing import Any

from attnconf.conformance.source.syntax import tree_of

DYNAMIC = {"getattr", "vars", "__dict__", "asdict", "locals"}  # by which anything may be read


def stored_alone(made: Any, text: str) -> list[str]:
    """Return the parameters of a method that go into attributes alone which the text of the file never reads."""
    try:
        own = tree_of(textwrap.dedent(inspect.getsource(made)))
        whole = list(ast.walk(tree_of(text)))
    except (OSError, TypeError, SyntaxError):
        return []
    read = {node.attr for node in whole if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)}
    if DYNAMIC & (read | {node.id for node in whole if isinstance(node, ast.Name)}):
        return []
    kept = dict(_kept(own))
    uses = [n.id for n in ast.walk(own) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
    return [name for name, attribute in kept.items() if uses.count(name) == 1 and attribute not in read]


def _kept(own: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield the names that are assigned to attributes as they are, with the attributes."""
    for node in ast.walk(own):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
            for target in node.targets:
                if isinstance(target, ast.Attribute):
                    yield node.value.id, target.attr
