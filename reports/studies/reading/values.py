"""What is known of the values in somebody's code, and what the syntax of its file says of names; nothing is run.

A value is known by the arguments of the call that it comes from, by the attributes of the object that it went through,
and by what befell it, as letters. Not part of the installed package.
"""

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

CALLED = ("forward", "call", "__call__")
MAKERS = ("__init__", "setup", "build", "__post_init__")
Definition = ast.ClassDef | ast.FunctionDef
NORM, OTHER, SUM, PRODUCT, SOFTMAX, EITHER = "n", "s", "+", "@", "S", "?"  # what befalls a value
KINDS = (  # of what an object keeps, by the name of its class or, where that says nothing, of the attribute
    (NORM, r"norm|(^|_)ln(_|\d|$)"),
    ("", r"drop|identity|\bact(ivation)?(_|\b)|relu|gelu|silu|swish|sigmoid|tanh|rearrange|permute"),
    ("", r"rot(ary|ation)|rope|pos(ition(al)?)?_?e(nc|mb)"),
)


@dataclass(frozen=True)
class Value:
    """What is known of a value."""

    origins: frozenset[str] = frozenset()  # arguments of the call
    through: frozenset[str] = frozenset()  # attributes of the object, as "q_proj" or "heads[].query"
    steps: str = ""
    factors: tuple["Value", ...] = ()  # of the last product of two
    parts: tuple["Value", ...] = ()  # of a tuple
    loose: bool = False  # whether the parts are what a function was given that nobody knows
    code: "Closure | None" = field(default=None, compare=False)  # of a function

    @property
    def scores(self) -> bool:
        """Whether it is a product that no softmax has been taken of."""
        return bool(self.factors) and not any(one.weights for one in self.factors) and SOFTMAX not in self.last

    @property
    def weights(self) -> bool:
        """Whether it is a softmax that nothing was multiplied by."""
        return SOFTMAX in self.last

    @property
    def last(self) -> str:
        """What befell it since the last product."""
        return self.steps.rpartition(PRODUCT)[2]

    def then(self, step: str, *through: str) -> "Value":
        """Return what it becomes by a step, as one value."""
        return Value(self.origins, self.through.union(through), self.steps + step, self.factors)


@dataclass(frozen=True)
class Closure:
    """A function, with what its names mean where it stands."""

    node: ast.FunctionDef | ast.Lambda
    known: dict[str, Value]


NOTHING = Value()


def joined(values: Iterable[Value]) -> Value:
    """Return what several values give together; what depends on no argument says nothing beside one that does."""
    every = list(values)
    told = [one for one in every if one.origins] or every
    if not told:
        return NOTHING
    first = next((one for one in told if one.factors), max(told, key=lambda one: len(one.steps)))
    origins, through = ([getattr(one, name) for one in told] for name in ("origins", "through"))
    return Value(frozenset().union(*origins), frozenset().union(*through), first.steps, first.factors)


def either(one: Value, other: Value) -> Value:
    """Return what is known where a value is one of two."""
    if one == other or not (one.origins and other.origins) or one.steps == other.steps:
        kept = max((one, other), key=lambda value: (len(value.parts), value.code is not None))
        return replace(joined((one, other)), parts=kept.parts, code=kept.code)
    return replace(joined((one, other)), steps=max(one.steps, other.steps, key=len) + EITHER)


@dataclass(frozen=True)
class File:
    """The classes and functions at the top level of a file, or of all cells of a notebook."""

    definitions: Mapping[str, Definition]

    def class_of(self, call: ast.AST) -> ast.ClassDef | None:
        """Return the class of this file that a call makes, by itself, in a list, or by a function that copies."""
        for node in ast.walk(call):
            if isinstance(node, ast.Call):
                found = self.definitions.get(last_name(node.func))
                if isinstance(found, ast.ClassDef):
                    return found
        return None

    def function(self, name: str) -> ast.FunctionDef | None:
        """Return the function of this name."""
        found = self.definitions.get(name)
        return found if isinstance(found, ast.FunctionDef) else None


def methods(owner: ast.ClassDef) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in owner.body if isinstance(node, ast.FunctionDef)}


def makers(owner: ast.ClassDef | None) -> list[ast.FunctionDef]:
    """Return the methods that make an object."""
    return [method for name, method in methods(owner).items() if name in MAKERS] if owner else []


def called(thing: Definition) -> ast.FunctionDef | None:
    """Return the method that is called, or the function itself."""
    if isinstance(thing, ast.FunctionDef):
        return thing
    return next((node for name, node in methods(thing).items() if name in CALLED), None)


def arguments(function: ast.FunctionDef | ast.Lambda) -> list[str]:
    """Return the names of all arguments but the object itself, starred ones last."""
    given = function.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, *(one for one in (given.vararg, given.kwarg) if one)]
    return [one.arg for one in every if one.arg not in ("self", "cls")]


def defaults(function: ast.FunctionDef) -> dict[str, ast.expr]:
    """Return the defaults of arguments, by name."""
    given = function.args
    places = [*given.posonlyargs, *given.args]
    late = dict(zip((one.arg for one in places[len(places) - len(given.defaults) :]), given.defaults, strict=True))
    only = zip((one.arg for one in given.kwonlyargs), given.kw_defaults, strict=True)
    return late | {name: value for name, value in only if value is not None}


def made_in(owner: ast.ClassDef) -> dict[str, ast.Call]:
    """Return the calls whose results an object keeps, by attribute."""
    found: dict[str, ast.Call] = {}
    for node in ast.walk(owner):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                for place, value in pairs(target, node.value):
                    call = next((one for one in ast.walk(value) if isinstance(one, ast.Call)), None)
                    if call is not None and is_own(place) and isinstance(place, ast.Attribute):
                        found.setdefault(place.attr, call)
    return found


def pairs(target: ast.expr, value: ast.expr) -> Sequence[tuple[ast.expr, ast.expr]]:
    """Return what is assigned to what, where both sides are tuples as well."""
    if not isinstance(target, ast.Tuple):
        return [(target, value)]
    if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts):
        return list(zip(target.elts, value.elts, strict=True))
    return [(one, value) for one in target.elts]


def is_own(node: ast.AST) -> bool:
    """Return whether a node is an attribute of the object."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def last_name(node: ast.AST) -> str:
    """Return the last name of ``a.b.c``, or nothing."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def keyword(call: ast.Call, *names: str) -> ast.expr | None:
    """Return what a call gives by one of these names."""
    return next((one.value for one in call.keywords if one.arg in names), None)


def kind_of(attribute: str, made: ast.Call | None) -> str:
    """Return the letter of what an object keeps."""
    words = [last_name(made.func) if made else "", attribute.rpartition(".")[2]]
    for word in words:
        for letter, pattern in KINDS:
            if re.search(pattern, word, re.IGNORECASE):
                return letter
        if re.search(r"linear|dense|conv|attention|mlp|feed", word, re.IGNORECASE):
            break
    return OTHER
