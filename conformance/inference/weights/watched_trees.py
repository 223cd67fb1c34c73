"""Weights in a tree of dicts and lists that no function of a file makes: what code asks of it, and which shapes run.

Whatever is asked for is a weight at first. Where code goes on from it by a key it is a dict in the next call, and where
code goes through it a list, with one entry for each layer.
"""

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import product
from types import CodeType, FrameType, FunctionType
from typing import Any

import numpy as np
from torch import Tensor
from torch.utils._pytree import tree_map

from attnconf.conformance.inference.building.building import Construction, Meanings
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.calling import parameters
from attnconf.conformance.inference.trials.probing import Failed, attempt
from attnconf.conformance.inference.weights.watched_keys import (
    OPTIONAL,
    RUNS,
    Asked,
    input_of,
    next_shape,
    sizes_in,
    text_of_zeros,
    told_of,
)
from attnconf.conformance.source.source_text import code_reached
from attnconf.conformance.source.syntax import tree_of

LAYERED = r"((?:\w*_)?(?:layers?|blocks?|h|l|enc(?:oder)?|dec(?:oder)?|stages?)_?)(\d+)|()(\d+)"  # a key for each layer
KEY = r"[\"']((?:\w*_)?(?:layer|block|h|l|enc(?:oder)?|dec(?:oder)?)(?:_(?=[\"'{])|(?=\{)))"  # the start of such a key
STACKS = r"(\w*_)?(layers?|blocks?|h|stack|encoder|decoder|transformer)"  # what the length of is a number of layers
Shapes = Mapping[str, tuple[str, ...]]


class Branch(Exception):
    """What was taken for a weight is a dict, or a list."""

    def __init__(self, path: str, kind: str) -> None:
        super().__init__(f"{path} is a {kind}")
        self.path, self.kind = path, kind


class Weight:
    """What a weight does besides, as it may be none: asked for a key, or gone through, it is a branch."""

    path: str | None = None
    row = False  # of it: one of a list, perhaps

    def _branch(self, kind: str) -> None:
        if self.path is not None:
            raise Branch(self.path, "list" if self.row else kind)

    def __contains__(self, key: object) -> bool:
        self._branch("dict")
        return False

    def keys(self) -> Any:
        self._branch("dict")

    def items(self) -> Any:
        self._branch("dict")

    def values(self) -> Any:
        self._branch("dict")

    def get(self, key: str, default: Any = None) -> Any:
        self._branch("dict")

    def __iter__(self) -> Any:
        self._branch("list")
        return super().__iter__()  # type: ignore[misc]  # an array's

    def __len__(self) -> int:
        if self.path is not None and re.fullmatch(STACKS, self.path.rpartition(".")[2]):
            self._branch("list")
        return int(super().__len__())  # type: ignore[misc]

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            self._branch("dict")
        given = super().__getitem__(key)  # type: ignore[misc]
        return row_of(given, self.path) if isinstance(key, int) and self.path is not None else given


class TensorWeight(Weight, Tensor):
    """A weight that is a tensor: what is computed of it is none."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = super().__torch_function__(func, types, args, kwargs or {})  # type: ignore[no-untyped-call]
        return tree_map(lambda x: x.as_subclass(Tensor) if isinstance(x, cls) else x, given)


class ArrayWeight(Weight, np.ndarray):
    """A weight that is an array of NumPy; what is computed of it has no path."""


def row_of(x: Any, path: str | None) -> Any:
    """Return a row of a weight, which may be one of a list."""
    row = x.as_subclass(TensorWeight) if isinstance(x, Tensor) else np.asarray(x).view(ArrayWeight)
    row.path, row.row = path, True
    return row


@dataclass
class Tree:
    """What is known of the weights: by path, what is a dict or a list; of the rest, the shapes that are tried."""

    asked: Asked
    prefix: str  # of the key of a layer
    through: str  # what is gone through: "list", or "dict" where its keys are
    kinds: dict[str, str] = field(default_factory=lambda: {"": "dict"})

    @property
    def layers(self) -> int:
        return self.asked.sizes.get("layers", 1)

    def at(self, path: str) -> Any:
        """Return what stands at a path."""
        if self.kinds.get(path) == "dict":
            return Node(self, path)
        if self.kinds.get(path) == "list":
            return [self.at(f"{path}.{{n}}") for _ in range(self.layers)]
        x = self.asked.tried(path)
        weight = x.view(ArrayWeight) if self.asked.arrays else x.as_subclass(TensorWeight)
        weight.path = path
        return weight

    def learn(self, branch: Branch) -> None:
        """Take what was a weight for a branch; all that was asked for behind it is asked for anew."""
        path, kind = branch.path, self.through if branch.kind == "list" else "dict"
        if layered := re.fullmatch(LAYERED, path.rpartition(".")[2]):
            above = path.removesuffix(layered[0])
            path = f"{above}{layered[1] or ''}{{n}}" if kind == "dict" else path
        self.kinds[path] = kind
        names = list(self.asked.shapes)
        for name in names[names.index(branch.path) :] if branch.path in names else ():
            del self.asked.shapes[name]


class Node(dict[Any, Any]):
    """Stands in for a dict of the tree."""

    def __init__(self, tree: Tree, path: str) -> None:
        super().__init__()
        self.tree, self.path = tree, path

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str) and "." in key:
            raise KeyError(key)  # a flat dict, which is watched elsewhere
        name = str(key)
        if layered := re.fullmatch(LAYERED, name):
            known = f"{self.above}{layered[1] or ''}{{n}}"
            name = f"{layered[1] or ''}{{n}}" if known in self.tree.kinds else name
        return self.tree.at(f"{self.above}{name}")

    @property
    def above(self) -> str:
        return f"{self.path}." if self.path else ""

    def __contains__(self, key: object) -> bool:
        if layered := re.fullmatch(LAYERED, str(key)):
            return int(layered[2] or layered[4]) < self.tree.layers
        return bool(re.search(OPTIONAL, str(key)))

    def __iter__(self) -> Iterator[str]:
        return (f"{self.tree.prefix}{n}" for n in range(self.tree.layers))

    def __len__(self) -> int:
        return self.tree.layers

    def keys(self) -> Any:
        """Return the keys: those of layers, or what a function wants that a dict is unpacked into."""
        return wanted_of(self, sys._getframe(1)) or list(self)

    def items(self) -> Any:
        return [(key, self[key]) for key in self]

    def values(self) -> Any:
        return [self[key] for key in self]

    def get(self, key: Any, default: Any = None) -> Any:
        return self[key] if key in self else default  # noqa: SIM401  # it is what this does


def wanted_of(node: Node, frame: FrameType) -> list[str]:
    """Return the names that a function of the file wants which ``frame`` unpacks a dict into: ``block(x, **node)``."""
    calls = [one for one in ast.walk(_tree_of(frame.f_code)) if isinstance(one, ast.Call)]
    for call in calls:
        unpacked = [one.value for one in call.keywords if one.arg is None]
        at = frame.f_code.co_firstlineno + call.lineno - 1
        if len(unpacked) != 1 or not isinstance(call.func, ast.Name) or at != frame.f_lineno:
            continue
        called = frame.f_globals.get(call.func.id)
        held = eval(ast.unparse(unpacked[0]), frame.f_globals, frame.f_locals)
        if isinstance(called, FunctionType) and isinstance(held, Node) and held.path == node.path:
            names = [p.name for p in parameters(called) if p.default is p.empty]
            given = {*names[: len(call.args)], *(one.arg for one in call.keywords)}
            return [name for name in names if name not in given]
    return []


@cache
def _tree_of(code: CodeType) -> ast.AST:
    """Return the syntax of a function by its code; nothing where it cannot be read."""
    try:
        return tree_of(textwrap.dedent(inspect.getsource(code)))
    except (OSError, SyntaxError):
        return ast.Module([], [])


def watched_tree(place: Place, table: Meanings, takes: str, words: str) -> Iterator[Construction]:
    """Yield the tree of weights that a function asks for; ``words``: what else it is told."""
    sizes = sizes_in(table)
    told = told_of(place, table, words, sizes)
    if told is None:
        return
    arrays = getattr(place.module, "__lent_by__", "") == "numpy_arrays.in_arrays"
    function, x = inspect.unwrap(place.thing) if arrays else place.thing, input_of(sizes)
    given = [p.name for p in parameters(place.thing) if p.default is p.empty and p.name not in {takes, *told}]
    said = re.findall(KEY, code_reached(place.thing))
    for one, through in product((x, x[0]), ("list", "dict")):
        tree = Tree(Asked(sizes, (), arrays=arrays), next(iter(said), "layer_"), through)
        call = partial(function, **told, **dict.fromkeys(given, one.numpy() if arrays else one))
        if shapes := _shapes(tree, lambda weights, call=call: call(**{takes: weights})):
            deep = [path for path in shapes if "." in path]
            meant = {m for shape in shapes.values() for m in shape if m in sizes}
            meant |= {"layers"} if any("{n}" in path for path in shapes) else set()
            if deep:
                yield Construction(_text(shapes, "", table), (), frozenset(meant & {*table}))
            return


def _shapes(tree: Tree, call: Any) -> Shapes:
    """Return the shapes of all weights with which a call runs; nothing where it does with none."""
    for _ in range(RUNS):
        try:
            attempt(lambda: call(tree.at("")))
            return tree.asked.shapes
        except Failed as failed:
            branch = _cause(failed)
            if branch is not None:
                tree.learn(branch)
            elif not next_shape(tree.asked):
                return {}
    return {}


def _cause(failed: Failed) -> Branch | None:
    """Return the branch that a call failed at, whatever was raised on the way; None where it failed otherwise."""
    error: BaseException | None = failed
    while error is not None and not isinstance(error, Branch):
        error = error.__context__
    return error


def _text(shapes: Shapes, path: str, table: Meanings) -> str:
    """Return the text of the dict, list or tensor at a path."""
    if path.removesuffix(".") in shapes:
        return text_of_zeros(shapes[path.removesuffix(".")], table)
    names = dict.fromkeys(one.removeprefix(path).split(".")[0] for one in shapes if one.startswith(path))
    layers = f"range({table['layers'][0] if 'layers' in table else '1'})"
    if list(names) == ["{n}"]:
        return f"[{_text(shapes, f'{path}{{n}}.', table)} for n in {layers}]"
    return f"{{{', '.join(_entry(shapes, path, name, layers, table) for name in names)}}}"


def _entry(shapes: Shapes, path: str, name: str, layers: str, table: Meanings) -> str:
    text = _text(shapes, f"{path}{name}.", table)
    return f'**{{f"{name}": {text} for n in {layers}}}' if "{n}" in name else f'"{name}": {text}'
