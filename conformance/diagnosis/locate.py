"""Find the line of a user's source that makes a known mistake; none if no line or several lines may be meant.

Nothing is run. A mistake is looked for by the shape of its code (finders/), in the judged class or function and in
the classes and functions of the same file that it names, directly or not.
"""

import ast
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from attnconf.conformance.diagnosis.finders.by_mutant import FINDERS
from attnconf.conformance.diagnosis.finders.combine import nothing
from attnconf.conformance.engine.request import Implementation
from attnconf.conformance.source import source_text
from attnconf.conformance.source.syntax import Code, tree_of

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def locate(text: str, mutants: Iterable[str], inside: str = "") -> int | None:
    """Return the number of the line (from 1) that makes the mistake, or None.

    ``mutants``: names of the mutants that the mistake may be. ``inside``: the name of the judged class or function.
    Consecutive lines of the same shape, as for query, key and value, count as one place: the first.
    """
    try:
        tree = tree_of(text)
    except (SyntaxError, ValueError):
        return None
    lines = shaped(Code(relevant(tree, inside)), mutants)
    first, last = min(lines, default=0), max(lines, default=0)
    together = len(lines) <= 3 and last - first == len(lines) - 1
    return first if lines and together and _alike(text.splitlines()[first - 1 : last]) else None


def shaped(code: Code, mutants: Iterable[str]) -> set[int]:
    """Return the lines whose code has the shape of one of these mistakes."""
    finders = [next((find for pattern, find in FINDERS if fnmatchcase(name, pattern)), nothing) for name in mutants]
    return {line for find in finders for node in find(code) if (line := getattr(node, "lineno", None))}


def place(implementation: Implementation, component: str, mutants: Iterable[str]) -> tuple[str, int, str] | None:
    """Return the place of a mistake in an implementation's text: (place in words, line, the line's text).

    None if no line, or more than one, may make the mistake.
    """
    source = source_text.text_of(implementation.source)
    if source is None:
        return None
    line = locate(source.text, mutants, judged_name(implementation, component))
    return (source.place(line), line, source.text.splitlines()[line - 1].strip()) if line else None


def judged_name(implementation: Implementation, component: str) -> str:
    """Return the name of the judged class or function; in an adapter, the component's."""
    return (implementation.binding.inside if implementation.binding else "") or component


def _alike(lines: list[str]) -> bool:
    """Return whether lines have one shape: they differ in names alone."""
    bare = [line.partition("#")[0] for line in lines]
    shapes = {"".join(c for c in line if not c.isalnum() and c not in "_ ") for line in bare}
    return len(shapes) == 1


def relevant(tree: ast.Module, inside: str) -> list[ast.stmt]:
    """Return the judged definition, the definitions that it names, and the top level's other statements.

    Of a method, "Class.method", these are the method and those of its class that it names.
    """
    defined: dict[str, Definition] = {node.name: node for node in tree.body if isinstance(node, Definition)}
    holder, _, method = inside.rpartition(".")
    own = {node.name: node for node in getattr(defined.get(holder), "body", ()) if isinstance(node, Definition)}
    whole = {**defined, **own}
    if method not in whole:
        return tree.body
    kept, left = set(), [method]
    while left:
        name = left.pop()
        if name not in kept:
            kept.add(name)
            left += [other for other in _names(whole[name]) if other in whole]
    plain = [node for node in tree.body if not isinstance(node, Definition) or node.name in kept]
    return [*plain, *(node for name, node in own.items() if name in kept)]


def _names(node: ast.AST) -> Iterator[str]:
    """Yield the names that code reads, and those that it asks its object or class for."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id in ("self", "cls"):
            yield part.attr
