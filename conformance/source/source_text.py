"""The Python text of a judged class or function: of its file, or of the notebook cells it was typed into."""

import ast
import inspect
import linecache
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from attnconf.conformance.source import reader
from attnconf.conformance.source.syntax import tree_of


@dataclass(frozen=True)
class SourceText:
    """Python text, with the files or cells that its lines come from."""

    text: str
    parts: tuple[tuple[int, str], ...]  # (first line within the text, from 1; the name of the file in tracebacks)

    def place(self, line: int) -> str:
        """Return the place of a line of the text, in words: "homework.py:12", "In [3], line 4"."""
        first, filename = [part for part in self.parts if part[0] <= line][-1]
        return reader.where(filename, line - first + 1)

    def definitions(self) -> dict[str, str]:
        """Return the first line of each class and function by name; of several of one name, of the last."""
        kinds = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        return {node.name: self.place(node.lineno) for node in tree_of(self.text).body if isinstance(node, kinds)}


_kept: dict[str, SourceText] = {}  # of classes and functions without a file, by key


def text_of(source: str) -> SourceText | None:
    """Return the text of a file, or the text that ``keep`` stored under this key; None if there is neither."""
    if source in _kept:
        return _kept[source]
    path = Path(source or "-")
    if reader.was_read(source):
        return SourceText(reader.text(source), ((1, source),))
    if path.suffix != ".py" or not path.is_file():
        return None
    return SourceText(path.read_text(encoding="utf-8", errors="replace"), ((1, source),))


def text_of_module(module: Any) -> SourceText | None:
    """Return the text of the file that a module was read from; None where there is none."""
    return text_of(str(getattr(module, "__file__", "") or ""))


def keep(called: str, things: Iterable[Any]) -> str | None:
    """Keep the text of functions and classes with the definitions they name; return the key for ``text_of``.

    The key is the path of their file where there is one, and None where there is no text (at Python's own prompt).
    """
    names = dict.fromkeys(f.__code__.co_filename for thing in things for f in reached(thing))
    texts = {name: "".join(linecache.getlines(name)) for name in names}
    texts = {name: text if text.endswith("\n") else f"{text}\n" for name, text in texts.items() if text.strip()}
    if len(texts) == 1 and Path(next(iter(texts))).is_file():
        return next(iter(texts))
    if not texts:
        return None
    whole, parts = "", []
    for name, text in texts.items():
        parts.append((whole.count("\n") + 1, name))
        whole += text
        reader.adopt(name)
    _kept[called] = SourceText(whole, tuple(parts))
    return called


def reached(thing: Any) -> Iterator[FunctionType]:
    """Yield a function, or the functions of a class, then the functions that these name in their module, and so on."""
    todo, seen = [thing], set()
    while todo:
        this = todo.pop()
        if id(this) in seen:
            continue
        seen.add(id(this))
        for function in functions_of(this):
            yield function
            todo += [v for n in code_names(function.__code__)
                     if isinstance(v := function.__globals__.get(n), type | FunctionType)
                     and getattr(v, "__module__", "") == function.__module__]  # fmt: skip


def texts_reached(thing: Any) -> Iterator[str]:
    """Yield the text of each function ``reached``; what a library generated (a dataclass's ``__init__``) has none."""
    written = (f for f in reached(thing) if linecache.getlines(f.__code__.co_filename))
    yield from map(inspect.getsource, written)


def code_reached(thing: Any) -> str:
    """Return the text of all functions ``reached``."""
    return "\n".join(texts_reached(thing))


def only_others_have(pattern: str, thing: Any, module: Any) -> bool:
    """Return whether the file of a module has a pattern, and what is ``reached`` from one of its things has not."""
    text = text_of_module(module)
    return text is not None and not re.search(pattern, code_reached(thing)) and bool(re.search(pattern, text.text))


def functions_of(thing: Any) -> list[FunctionType]:
    """Return a function in a list, or the functions defined by a class and its bases of the same module."""
    if isinstance(thing, FunctionType):
        own = [thing]
    elif isinstance(thing, type):
        own = [v for kind in thing.__mro__ if kind.__module__ == thing.__module__ for v in vars(kind).values()]
    else:
        own = []
    unwrapped = (inspect.unwrap(v) for v in own if isinstance(v, FunctionType))
    return [v for v in unwrapped if isinstance(v, FunctionType)]  # what wraps a method of C has no code


def code_names(code: CodeType) -> set[str]:
    """Return the global names that code reads, nested functions included."""
    inner = [c for c in code.co_consts if isinstance(c, CodeType)]
    return set(code.co_names).union(*(code_names(c) for c in inner))
