"""What a constructor or a call with ``**kwargs`` takes: the names that its code reads from them, or hands on."""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator, Sequence
from types import FunctionType
from typing import Any

from torch import nn

from attnconf.conformance.source.signatures import parameters_of
from attnconf.conformance.source.syntax import last_name, tree_of

Parameters = dict[str, inspect.Parameter]
ASKING = {"get", "pop", "setdefault"}
NOTHING = inspect.Parameter.empty
HOLDERS = {"SimpleNamespace", "Namespace"}  # what turns entries into attributes


def constructor_parameters(thing: Any) -> list[inspect.Parameter]:
    """Return the parameters of a class, or of another callable; ``**kwargs`` as those that its code takes from them.

    What no code reads is told by no name: then ``**kwargs`` stays as it is.
    """
    found = parameters_of(thing)
    if not isinstance(thing, type) or not any(p.kind is p.VAR_KEYWORD for p in found):
        return found
    told = {p.name for p in found}
    more = [p for name, p in starred(thing).items() if name not in told]
    return [p for p in found if not more or p.kind is not p.VAR_KEYWORD] + more


def starred(thing: type, depth: int = 3) -> Parameters:
    """Return the parameters that a class takes by ``**kwargs`` alone, by name."""
    start: Any = inspect.unwrap(thing.__init__)  # type: ignore[misc]  # of the class itself
    if not isinstance(start, FunctionType) or not depth:
        return {}
    star = next((p.name for p in parameters_of(start) if p.kind is p.VAR_KEYWORD), None)
    try:
        tree = tree_of(textwrap.dedent(inspect.getsource(start)))
    except (OSError, TypeError, ValueError, SyntaxError):
        return {}
    return _Read(thing, start, star, tree, depth).found if star else {}


def handed_on(module: nn.Module, known: Sequence[inspect.Parameter]) -> list[inspect.Parameter]:
    """Return the options that a module's call takes by ``**kwargs``, and hands on as they are to parts of the module.

    ``known``: the parameters of the call.
    """
    star = next((p.name for p in known if p.kind is p.VAR_KEYWORD), None)
    try:
        tree = tree_of(textwrap.dedent(inspect.getsource(type(module).forward))) if star else ast.Module([], [])
    except (OSError, TypeError, ValueError, SyntaxError):
        return []
    words = [word for node in ast.walk(tree) if isinstance(node, ast.Call) for word in node.keywords]
    if not any(word.arg is None and ast.unparse(word.value) == star for word in words):
        return []
    named, found = {p.name for p in known}, Parameters()
    for part in _parts(module, type(module).__module__):
        for p in parameters_of(part.forward):
            if p.default is not NOTHING and p.name not in named:
                found.setdefault(p.name, p.replace(kind=p.KEYWORD_ONLY))
    return list(found.values())


def _parts(module: nn.Module, file: str) -> Iterator[nn.Module]:
    """Yield the parts of a module that are of its file, those in lists of modules too, and none of a part's own."""
    for child in module.children():
        if isinstance(child, nn.ModuleList | nn.ModuleDict | nn.Sequential):
            yield from _parts(child, file)
        elif type(child).__module__ == file:
            yield child


class _Read:
    """What the code of a constructor reads of its keyword arguments, whatever they are merged with and kept as."""

    def __init__(self, thing: type, start: FunctionType, star: str, tree: ast.Module, depth: int):
        self.thing, self.start, self.depth = thing, start, depth
        self.kept, self.held, self.found = {star}, set[str](), Parameters()
        for node in ast.walk(tree):  # assignments stand before what is below them
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and self._merges(node.value):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names = {ast.unparse(target) for target in targets}
                self.kept |= names
                self.held |= (
                    names if isinstance(node.value, ast.Call) and last_name(node.value.func) in HOLDERS else set()
                )
                self._defaults(node.value)
        for node in ast.walk(tree):
            for p in self._read(node):
                known = self.found.get(p.name)
                if known is None or known.default is NOTHING:
                    self.found[p.name] = p

    def _is_kept(self, node: ast.AST) -> bool:
        return ast.unparse(node) in self.kept if isinstance(node, ast.Name | ast.Attribute) else False

    def _merges(self, value: ast.AST) -> bool:
        """Return whether an expression is the keyword arguments, alone or with others."""
        if isinstance(value, ast.Dict):
            return any(k is None and self._is_kept(v) for k, v in zip(value.keys, value.values, strict=True))
        if isinstance(value, ast.BinOp):
            return self._merges(value.left) or self._merges(value.right)
        if isinstance(value, ast.Call) and last_name(value.func) in {"dict", "ChainMap", *HOLDERS}:
            handed = [k.value for k in value.keywords if k.arg is None]
            return any(self._merges(part) for part in (*value.args, *handed))
        return self._is_kept(value)

    def _defaults(self, value: ast.AST) -> None:
        """Note the entries that keyword arguments are merged with: those of a global, or written there."""
        for node in ast.walk(value):
            there = self.start.__globals__.get(node.id) if isinstance(node, ast.Name) else None
            for name, default in there.items() if isinstance(there, dict) else ():
                if isinstance(name, str) and name.isidentifier():
                    self.found[name] = _named(name, default)
            if isinstance(node, ast.Dict):
                pairs = zip(node.keys, node.values, strict=True)
                written = [(k.value, v) for k, v in pairs if isinstance(k, ast.Constant)]
            else:
                written = [(k.arg, k.value) for k in node.keywords] if isinstance(node, ast.Call) else []
            for name, default in written:
                if isinstance(name, str):
                    self.found[name] = _named(name, _constant(default))

    def _read(self, node: ast.AST) -> Iterator[inspect.Parameter]:
        """Yield what is read at one place: ``kwargs["d"]``, ``kwargs.get("d", 8)``, ``Part(**kwargs)``."""
        if isinstance(node, ast.Subscript) and self._is_kept(node.value):
            yield from _said(node.slice, NOTHING)
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) in self.held:
            yield _named(node.attr, NOTHING)
        elif isinstance(node, ast.Compare) and any(self._is_kept(c) for c in node.comparators):
            yield from _said(node.left, None)
        elif isinstance(node, ast.Call):
            method = node.func
            if (
                isinstance(method, ast.Attribute)
                and method.attr in ASKING
                and self._is_kept(method.value)
                and node.args
            ):
                yield from _said(node.args[0], _constant(node.args[1]) if len(node.args) > 1 else None)
            elif any(k.arg is None and self._is_kept(k.value) for k in node.keywords):
                yield from self._handed_on(node)

    def _handed_on(self, call: ast.Call) -> Iterator[inspect.Parameter]:
        """Yield the parameters that a call takes from the keyword arguments: those that it does not give itself."""
        given = {k.arg for k in call.keywords}
        free: Sequence[inspect.Parameter] = []
        if isinstance(call.func, ast.Name):
            target = self.start.__globals__.get(call.func.id)
            own = getattr(target, "__module__", None) == self.thing.__module__ and target is not self.thing
            own = own and not self._is_given(call.func.id)
            free = constructor_parameters(target)[len(call.args) :] if own else []
        elif isinstance(call.func, ast.Attribute) and call.func.attr == "__init__":
            above = [
                k for k in self.thing.__mro__[1:] if k.__module__ == self.thing.__module__ and "__init__" in vars(k)
            ]
            free = constructor_parameters(above[0])[len(call.args) :] if above else []
        for p in free:
            if p.name not in given and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
                yield p.replace(kind=p.KEYWORD_ONLY)

    def _is_given(self, name: str) -> bool:
        """Return whether an object of a class is taken as an argument, too: then its entries are given in that."""
        return any(re.search(rf"\b{name}\b", str(p.annotation)) for p in parameters_of(self.start))


def _named(name: str, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)


def _said(node: ast.AST, default: Any) -> Iterator[inspect.Parameter]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
        yield _named(node.value, default)


def _constant(node: ast.AST) -> Any:
    """Return the value of a literal; None for what is computed."""
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return None
