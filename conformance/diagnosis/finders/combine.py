"""Finders made of names or of other finders."""

import ast

from attnconf.conformance.source.syntax import Code, Find, Nodes


def calling(*names: str) -> Find:
    """Find calls of functions or methods with these names."""
    return lambda code: list(code.calls(*names))


def keyword_given(*names: str) -> Find:
    """Find calls with one of these keywords."""

    def find(code: Code) -> Nodes:
        calls = [n for n in code.nodes if isinstance(n, ast.Call)]
        return [k.value for c in calls for k in c.keywords if k.arg in names]

    return find


def returning(find: Find) -> Find:
    """Find the return of forward, if the finder finds something."""

    def at_return(code: Code) -> Nodes:
        holders = [code.class_of(node) for node in find(code)]
        functions = [f for f in code.functions if f.name in ("forward", "__call__") and code.class_of(f) in holders]
        return [n for f in functions for n in ast.walk(f) if isinstance(n, ast.Return)]

    return at_return


def returned(find: Find) -> Find:
    """Find the finder's places within a return."""
    return lambda code: [node for node in find(code) if isinstance(code.statement(node), ast.Return)]


def nothing(code: Code) -> Nodes:
    """Find no place: the mistake is made in two places, each of which is right alone."""
    return []


def either(*finders: Find) -> Find:
    """Find the places of the first finder that finds any."""
    return lambda code: next((found for find in finders if (found := find(code))), [])
