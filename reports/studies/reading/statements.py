"""The statements of somebody's method, gone through once, branches one beside the other; nothing is run.

What their expressions give is in flow.py.
"""

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from attnconf.conformance.source.syntax import expression_of
from attnconf.reports.studies.reading import values as known
from attnconf.reports.studies.reading.values import NOTHING, Closure, File, Value, either, joined

WRAPPERS = r"residual|sublayer|add_?(and_?)?norm|(pre|post)_?norm|connection"  # classes around a sublayer
DEEPEST = 6
Known = dict[str, Value]


@dataclass(frozen=True)
class Event:
    """Something that is done: "attends" to a query and a key, "weighs" a value, "hides" scores, "sums" two values."""

    kind: str
    values: tuple[Value, ...]
    how: str = ""
    written: ast.expr | None = None  # the condition, or what is added
    fill: ast.expr | None = None


@dataclass
class Found:
    """What was found, and the code that was gone through."""

    events: list[Event] = field(default_factory=list)
    entered: list[ast.AST] = field(default_factory=list)
    made: dict[str, tuple[ast.Call, ast.ClassDef]] = field(default_factory=dict)  # by attribute, those inside too
    texts: dict[str, ast.expr] = field(default_factory=dict)  # what was last assigned to a name
    returned: list[tuple[ast.expr, Value]] = field(default_factory=list)  # by the outermost call


@dataclass
class Statements:
    """Goes through the code of one object, or of functions."""

    file: File
    owner: ast.ClassDef | None
    inside: str = ""  # which classes of the file are entered, as a pattern of names
    prefix: str = ""
    found: Found = field(default_factory=Found)
    depth: int = 0
    returns: list[tuple[ast.expr, Value]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.methods = known.methods(self.owner) if self.owner else {}
        self.made = known.made_in(self.owner) if self.owner else {}
        if self.owner:
            self.found.made |= {self.prefix + name: (call, self.owner) for name, call in self.made.items()}

    def enter(self, function: Closure, given: Sequence[Value], named: Known) -> Value:
        """Return what a function gives for these values."""
        if self.depth >= DEEPEST:
            return joined([*given, *named.values()])
        names = known.arguments(function.node)
        here = function.known | dict.fromkeys(names, NOTHING) | dict(zip(names, given, strict=False))
        here |= {name: value for name, value in named.items() if name in names}
        self.found.entered.append(function.node)
        if isinstance(function.node, ast.Lambda):
            return self.value(function.node.body, here)
        self.depth += 1
        outer, self.returns = self.returns, []
        self.statements(function.node.body, here)
        returns, self.returns = self.returns, outer
        self.depth -= 1
        if self.depth == 0 and not self.prefix:
            self.found.returned = returns
        result = NOTHING
        for _, value in returns:
            result = either(result, value) if result.origins else value
        return result

    def statements(self, body: Sequence[ast.stmt], here: Known) -> None:
        for node in body:
            self.statement(node, here)

    def statement(self, node: ast.stmt, here: Known) -> None:
        """Go through a statement."""
        match node:
            case ast.Assign(value=text) | ast.AnnAssign(value=ast.expr() as text):
                value = self.value(text, here)
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    self.bind(target, value, here, text)
            case ast.AugAssign():
                loaded = expression_of(ast.unparse(node.target))
                self.bind(node.target, self.value(ast.BinOp(loaded, node.op, node.value), here), here, node.value)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method))):
                value = self.value(node.value, here)
                if method.endswith("_") or method in ("append", "extend"):  # in its place
                    here[name] = value
            case ast.Expr():
                self.value(node.value, here)
            case ast.Return(value=ast.expr() as text):
                self.returns.append((text, self.value(text, here)))
            case ast.If():
                self.branches(node, here)
            case ast.For():
                self.bind(node.target, self.element(self.value(node.iter, here)), here, node.iter)
                self.statements(node.body, here)
            case ast.While() | ast.With() | ast.Try():
                self.statements([*node.body, *getattr(node, "finalbody", [])], here)
            case ast.FunctionDef():
                here[node.name] = Value(code=Closure(node, here))

    def branches(self, node: ast.If, here: Known) -> None:
        """Go through both branches, one beside the other."""
        self.value(node.test, here)
        one, other = dict(here), dict(here)
        self.statements(node.body, one)
        self.statements(node.orelse, other)
        left = [isinstance(body[-1], ast.Return | ast.Raise) if body else False for body in (node.body, node.orelse)]
        for name in {**one, **other}:
            if left == [True, False] or left == [False, True]:
                here[name] = (other if left[0] else one).get(name, NOTHING)
            else:
                here[name] = either(one.get(name, NOTHING), other.get(name, NOTHING))

    def bind(self, target: ast.expr, value: Value, here: Known, text: ast.expr) -> None:
        """Give a value to a name, to several, or to a part of what has one."""
        match target:
            case ast.Name():
                table = re.match(r"cos|sin|freqs", target.id)  # of angles, whatever they were asked of
                here[target.id] = replace(value, through=frozenset()) if table else value
                self.found.texts[target.id] = text
            case ast.Tuple() | ast.List():
                alike = len(value.parts) == len(target.elts) or (value.loose and len(value.parts) > len(target.elts))
                for place, one in enumerate(target.elts):
                    self.bind(one, value.parts[place] if alike else replace(value, parts=()), here, text)
            case ast.Attribute() if known.is_own(target):
                here[f"self.{target.attr}"] = value
            case ast.Subscript():
                whole = self.value(target.value, here)
                if whole.scores and not value.scores:
                    told = self.value(target.slice, here)
                    self.found.events.append(Event("hides", (whole, told), "filled", target.slice, text))
                    value = whole
                self.bind(target.value, joined([whole, value]), here, text)

    def element(self, value: Value) -> Value:
        """Return what a loop over a value gives."""
        if value.parts:
            return joined(value.parts) if not value.parts[0].parts else value.parts[0]
        return value if value.origins else Value(through=frozenset(f"{name}[]" for name in value.through))

    def value(self, node: ast.expr, here: Known) -> Value:
        """Return what an expression gives."""
        raise NotImplementedError
