"""The syntax tree of a user's source: searching its nodes and their parents, and reading simple expressions."""

import ast
import gc
import inspect
import textwrap
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import FunctionType

TRANSPOSING = {"transpose", "permute", "swapaxes", "movedim", "moveaxis", "t", "T", "mT", "rearrange", "swapdims"}
ACTIVATIONS = {"relu", "gelu", "silu", "sigmoid", "tanh", "leaky_relu", "relu6", "elu", "selu", "swish", "softplus"}
MODULES = {"torch", "nn", "F", "functional", "np", "numpy", "math", "jnp"}
Nodes = list[ast.AST]


def tree_of(text: str, filename: str = "<text>") -> ast.Module:
    """Return the syntax tree of a text. Raises SyntaxError or ValueError, and never one made of a warning.

    A finalizer that runs meanwhile, and may hand over to a thread that parses, makes a SystemError of it in Python
    3.11 (python/cpython#106905); so none runs.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        with warnings.catch_warnings(action="ignore"):  # of "\d" and of "is 1"
            return ast.parse(text, filename)
    finally:
        if collecting:
            gc.enable()


@lru_cache(64)
def tree_of_function(thing: FunctionType) -> ast.AST:
    """Return the code of a function; that of nothing where it has no text."""
    try:
        return tree_of(textwrap.dedent(inspect.getsource(inspect.unwrap(thing))))
    except (OSError, TypeError, SyntaxError):
        return ast.Module([], [])


def expression_of(text: str) -> ast.expr:
    """Return the syntax tree of one expression. Raises SyntaxError or ValueError."""
    (only,) = tree_of(f"({text}\n)").body
    if not isinstance(only, ast.Expr):
        raise SyntaxError(f"no expression: {text}")
    return only.value


@dataclass
class Code:
    """Statements to search, with the parent of each of their nodes."""

    body: list[ast.stmt]

    def __post_init__(self) -> None:
        self.nodes = [node for statement in self.body for node in ast.walk(statement)]
        self.above = {child: node for node in self.nodes for child in ast.iter_child_nodes(node)}

    @property
    def functions(self) -> list[ast.FunctionDef]:
        return [node for node in self.nodes if isinstance(node, ast.FunctionDef)]

    def calls(self, *names: str) -> list[ast.Call]:
        """Return the calls of functions or methods with one of these names; case does not matter."""
        return [n for n in self.nodes if isinstance(n, ast.Call) and last_name(n.func).lower() in names]

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the expressions that a node is part of, the nearest first."""
        while (node := self.above.get(node)) is not None and not isinstance(node, ast.stmt):  # type: ignore[assignment]
            yield node

    def class_of(self, node: ast.AST) -> ast.AST | None:
        while (node := self.above.get(node)) is not None:  # type: ignore[assignment]
            if isinstance(node, ast.ClassDef):
                return node
        return None

    def statement(self, node: ast.AST) -> ast.AST:
        while not isinstance(node, ast.stmt) and node in self.above:
            node = self.above[node]
        return node


Find = Callable[[Code], Nodes]


# -- reading expressions


def last_name(node: ast.AST) -> str:
    """Return "softmax" of torch.softmax and of x.softmax, and "x" of x."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def mentions(node: ast.AST, *words: str) -> bool:
    """Return whether a name in an expression contains one of the words."""
    names = [last_name(part).lower() for part in ast.walk(node)]
    return any(word in name for name in names for word in words)


def number(node: ast.AST | None) -> float | None:
    """Return the value of a literal number, with a sign or as float("-inf")."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = number(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return float(node.value)
    if isinstance(node, ast.Call) and last_name(node.func) == "float" and node.args:
        word = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
        return float(word) if isinstance(word, str) and word.strip("+-") == "inf" else None
    return float("inf") if node is not None and last_name(node) == "inf" else None


def argument(call: ast.Call, name: str, place: int) -> ast.AST | None:
    """Return an argument by name or place; in a method call one place earlier, as the tensor stands before the dot."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    function = call.func
    method = isinstance(function, ast.Attribute) and last_name(function.value) not in MODULES
    place -= method or last_name(function)[:1].isupper()
    return call.args[place] if 0 <= place < len(call.args) else None


def is_call(node: ast.AST, *words: str) -> bool:
    """Return whether a node is a call of a function whose name contains one of the words."""
    return isinstance(node, ast.Call) and any(word in last_name(node.func).lower() for word in words)
