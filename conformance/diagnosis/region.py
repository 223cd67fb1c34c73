"""Find the function of a user's source in which a failure arises, if no single line is known.

Nothing is run; only the text is read, as in locate.py.
"""

import ast
import re
from collections.abc import Iterable, Sequence

from attnconf.conformance.diagnosis.locate import Definition, judged_name, relevant, shaped
from attnconf.conformance.engine.request import Implementation
from attnconf.conformance.source import source_text
from attnconf.conformance.source.syntax import Code, last_name, tree_of
from attnconf.spec import registry

Function = ast.FunctionDef | ast.AsyncFunctionDef
Functions = dict[Function, str]  # function -> its name; for a method of another class, "Class.name"
RUN = ("forward", "__call__", "apply")  # the methods that run when an object is called
CALLEES = 3  # called functions that are named, too


def region(implementation: Implementation, component: str, mutants: Sequence[str] = ()) -> str | None:
    """Return the function in which a failure arises, in words with its lines; None without a text.

    This is the function with all the code in the shape of one of the mistakes; else the called function, with the
    functions of the same file that it calls.
    """
    source = source_text.text_of(implementation.source)
    try:
        tree = tree_of(source.text) if source else None
    except (SyntaxError, ValueError):
        tree = None
    if source is None or tree is None:
        return None
    inside = judged_name(implementation, component)
    parts = relevant(tree, inside)
    functions = _functions(parts, inside)
    around = {_around(functions, line) for line in shaped(Code(parts), mutants)}
    only = around.pop() if len(around) == 1 else None
    called = only or _called(functions, parts, inside)
    if called is None:
        return None
    own = _own(component, mutants)
    others = [f for f in _beneath(functions, called) if f is not called and not (own and "." in functions[f])]
    others = [] if only else others
    words = [_words(functions[f], f, source) for f in (called, *others[:CALLEES])]
    more = f", or in what it calls: {', '.join(words[1:])}" if others else ""
    return f"somewhere in {words[0]}{more}{', …' if len(others) > CALLEES else ''}"


def _own(component: str, mutants: Iterable[str]) -> bool:
    """Return whether the mistakes are of the component's own chapter, and so not in the other classes that it uses."""
    chapters = [registry.CHAPTERS.get(name.split("-")[0], "") for name in mutants]
    return bool(chapters) and all(chapter and component.startswith(chapter) for chapter in chapters)


def _functions(parts: Iterable[ast.stmt], inside: str) -> Functions:
    """Return the functions and methods of a text, in its order."""
    functions: Functions = {}
    for part in parts:
        other = f"{part.name}." if isinstance(part, ast.ClassDef) and part.name != inside else ""
        functions |= {node: other + node.name for node in ast.walk(part) if isinstance(node, Function)}
    return functions


def _words(name: str, function: Function, source: source_text.SourceText) -> str:
    """Return a function and its lines in words: "forward(), homework.py:14–26"."""
    first, last = (source.place(line) for line in (function.lineno, function.end_lineno or function.lineno))
    return f"{name}(), {first}" + (f"–{re.split(r'[: ]', last)[-1]}" if last != first else "")


def _around(functions: Functions, line: int) -> Function | None:
    """Return the innermost function that a line stands in."""
    holding = [f for f in functions if f.lineno <= line <= (f.end_lineno or f.lineno)]
    return max(holding, key=lambda f: f.lineno, default=None)


def _called(functions: Functions, parts: Iterable[ast.stmt], inside: str) -> Function | None:
    """Return the function that runs: the judged class's forward, or the inner function that the judged one returns.

    If nothing has the name ``inside``: the only forward, or the only function, of the text.
    """
    judged = [part for part in parts if isinstance(part, Definition) and part.name == inside.rpartition(".")[2]]
    within = [f for f in functions if any(f in ast.walk(part) for part in judged)]
    run = sorted((f for f in within if f.name in RUN and f not in judged), key=lambda f: RUN.index(f.name))
    alone = [some[0] for some in ([f for f in functions if f.name in RUN], list(functions)) if len(some) == 1]
    return next(iter([*run, *within[:1], *alone]), None)


def _beneath(functions: Functions, called: Function) -> list[Function]:
    """Return the functions of the same file that a function calls, directly or not, and forwards of other classes."""
    named = {f.name: f for f in functions}
    reached, left = {called}, [called]
    while left:
        names = {last_name(node.func) for node in ast.walk(left.pop()) if isinstance(node, ast.Call)}
        left += [named[name] for name in sorted(names & set(named)) if named[name] not in reached]
        reached |= set(left)
    return [f for f, name in functions.items() if f in reached or ("." in name and f.name in RUN)]
