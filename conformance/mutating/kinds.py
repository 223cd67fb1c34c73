"""What is put in the place of a node: the kinds of changes, each with an example in ``KINDS``."""

import ast
import copy
import itertools
from collections.abc import Iterator
from typing import Any

KINDS = {
    "operator": "a + b -> a - b",
    "comparison": "a < b -> a <= b",
    "constant": "1e-05 -> 0.001",
    "axis": "softmax(x, dim=-1) -> softmax(x, dim=-2)",
    "argument removed": "f(x, mask) -> f(x)",
    "arguments exchanged": "f(a, b) -> f(b, a)",
    "call exchanged": "x.mean(1) -> x.sum(1)",
    "call removed": "dropout(x) -> x",
    "statement removed": "x = x * mask -> pass",
    "condition negated": "if causal: -> if not causal:",
    "slice shifted": "x[:n] -> x[:n - 1]",
}
Alternative = tuple[str, ast.AST]

_OPERATORS: dict[type, type] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
_COMPARISONS: dict[type, tuple[type, ...]] = {
    ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.GtE), ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip
_EXCHANGED = {
    pair[i]: pair[1 - i]
    for pair in (
        ("softmax", "sigmoid"), ("zeros", "ones"), ("zeros_like", "ones_like"), ("mean", "sum"), ("tril", "triu"),
        ("sin", "cos"), ("amax", "amin"), ("max", "min"), ("sqrt", "rsqrt"), ("any", "all"), ("relu", "gelu"),
        ("ReLU", "GELU"), ("std", "var"), ("repeat", "repeat_interleave"), ("ge", "gt"), ("le", "lt"), ("exp", "expm1"),
        ("add", "sub"), ("mul", "div"), ("square", "abs"), ("logical_and", "logical_or"), ("ceil", "floor"),
    )
    for i in (0, 1)
}  # fmt: skip
_WITH_AXES = frozenset((
    "Softmax", "amax", "amin", "argsort", "cat", "chunk", "concat", "cumsum", "flatten", "flip", "gather",
    "index_select", "log_softmax", "logsumexp", "max", "mean", "min", "movedim", "narrow", "norm", "permute",
    "repeat_interleave", "roll", "select", "size", "softmax", "sort", "split", "squeeze", "stack", "std", "sum",
    "swapaxes", "transpose", "unbind", "unflatten", "unsqueeze", "var",
))  # fmt: skip
_AXES = ("dim", "axis", "dim0", "dim1", "start_dim", "end_dim")
_FILLS = ("masked_fill", "masked_fill_", "full", "full_like", "where", "fill_")


def alternatives(parent: ast.AST, field: str, index: int | None, node: ast.AST) -> Iterator[Alternative]:
    """Yield what may stand in the place of a node, with the kind of the change."""
    if isinstance(node, ast.BinOp | ast.AugAssign):
        yield from _operators(node)
    if isinstance(node, ast.UnaryOp | ast.BoolOp):
        yield from _signs(node)
    if isinstance(node, ast.Compare):
        yield from _comparisons(node)
    if isinstance(node, ast.Constant):
        yield from _constants(parent, field, node)
    if isinstance(node, ast.Call):
        yield from _calls(node)
    if isinstance(node, ast.stmt) and field in ("body", "orelse"):
        yield from _statements(node)
    if isinstance(node, ast.expr) and field == "test":
        yield "condition negated", ast.UnaryOp(ast.Not(), node)
    if isinstance(node, ast.Slice):
        yield from _slices(node)


def name_of(call: ast.Call) -> str:
    """Return the last name of what is called."""
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _with(node: Any, **fields: Any) -> Any:
    """Return a copy of a node with other fields."""
    made = copy.copy(node)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def _operators(node: ast.BinOp | ast.AugAssign) -> Iterator[Alternative]:
    if type(node.op) in _OPERATORS:
        yield "operator", _with(node, op=_OPERATORS[type(node.op)]())
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub | ast.Div | ast.MatMult):
        yield "arguments exchanged", _with(node, left=node.right, right=node.left)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
        yield "operator", node.left
        yield "operator", node.right


def _signs(node: ast.UnaryOp | ast.BoolOp) -> Iterator[Alternative]:
    if isinstance(node, ast.BoolOp):
        yield "operator", _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif not isinstance(node.operand, ast.Constant):  # a signed number is changed as a constant
        yield "operator", node.operand


def _comparisons(node: ast.Compare) -> Iterator[Alternative]:
    for i, op in enumerate(node.ops):
        for other in _COMPARISONS[type(op)]:
            yield "comparison", _with(node, ops=[*node.ops[:i], other(), *node.ops[i + 1 :]])


def _constants(parent: ast.AST, field: str, node: ast.Constant) -> Iterator[Alternative]:
    value = node.value
    if isinstance(value, bool):
        yield "constant", ast.Constant(not value)
    elif isinstance(value, int):
        kind = "axis" if _is_axis(parent) else "constant"
        yield kind, ast.Constant(value + 1)
        yield kind, ast.Constant(value - 1) if value else ast.UnaryOp(ast.USub(), ast.Constant(1))
    elif isinstance(value, float) and value:
        yield "constant", ast.Constant(value * 2)
        yield "constant", ast.Constant(value * 100 if abs(value) < 0.01 else value / 2)
    elif isinstance(value, str) and "->" in value and isinstance(parent, ast.Call):
        yield from (("axis", ast.Constant(words)) for words in _other_axes(value))


def _is_axis(parent: ast.AST) -> bool:
    """Return whether a number is the axis of a call, or stands behind a sign as one may."""
    if isinstance(parent, ast.keyword):
        return parent.arg in _AXES
    return isinstance(parent, ast.UnaryOp) or (isinstance(parent, ast.Call) and name_of(parent) in _WITH_AXES)


def _other_axes(words: str) -> Iterator[str]:
    """Yield a pattern of axes with two neighbouring names of its result, or of its first input, exchanged."""
    inputs, _, result = words.partition("->")
    for given, made in ((inputs, result), (result, inputs)):
        spaced = " " in made.strip()
        names = made.split() if spaced else list(made)
        plain = [i for i, name in enumerate(names) if name.isidentifier()]
        for i, j in itertools.pairwise(plain):
            if j == i + 1:
                other = [*names[:i], names[j], names[i], *names[j + 1 :]]
                text = (" " if spaced else "").join(other)
                text = f" {text} " if spaced else text
                yield (f"{given}->{text}" if made is result else f"{text}->{given}").strip()


def _calls(node: ast.Call) -> Iterator[Alternative]:
    name = name_of(node)
    if name == "super" or (isinstance(node.func, ast.Attribute) and ast.unparse(node.func).startswith("super()")):
        return
    for i in range(len(node.keywords)):
        yield "argument removed", _with(node, keywords=[*node.keywords[:i], *node.keywords[i + 1 :]])
    if len(node.args) > 1 or (node.args and node.keywords):
        yield "argument removed", _with(node, args=node.args[:-1])
    for i in range(len(node.args) - 1):
        a, b = node.args[i : i + 2]
        if ast.dump(a) != ast.dump(b) and not {type(a), type(b)} & {ast.Starred}:
            yield "arguments exchanged", _with(node, args=[*node.args[:i], b, a, *node.args[i + 2 :]])
    values = [k for k in node.keywords if k.arg]
    for k, m in itertools.pairwise(values):
        other = [_with(x, value={id(k): m, id(m): k}.get(id(x), x).value) for x in node.keywords]
        yield "arguments exchanged", _with(node, keywords=other)
    yield from _other_calls(node, name)


def _other_calls(node: ast.Call, name: str) -> Iterator[Alternative]:
    if name in _EXCHANGED:
        function: Any = node.func
        field = {"attr": _EXCHANGED[name]} if isinstance(function, ast.Attribute) else {"id": _EXCHANGED[name]}
        yield "call exchanged", _with(node, func=_with(function, **field))
    if name in _FILLS and node.args:
        yield "call exchanged", _with(node, args=[*node.args[:-1], ast.Constant(0.0)])
    method = isinstance(node.func, ast.Attribute) and not _is_module(node.func.value)
    if method and isinstance(node.func, ast.Attribute) and not _is_self(node.func.value):
        yield "call removed", node.func.value
    elif node.args and not isinstance(node.args[0], ast.Starred):
        yield "call removed", node.args[0]


def _is_module(node: ast.AST) -> bool:
    """Return whether an expression is the name of a library's module, as it is usually imported."""
    return ast.unparse(node) in (
        "torch",
        "nn",
        "F",
        "math",
        "np",
        "numpy",
        "torch.nn",
        "nn.functional",
        "einops",
        "self",
    )


def _is_self(node: ast.AST) -> bool:
    return ast.unparse(node).startswith(("self.", "super()"))


def _statements(node: ast.stmt) -> Iterator[Alternative]:
    own = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and "super()" not in ast.unparse(node)
    again = isinstance(node, ast.Assign) and _reads_its_target(node)
    if own or again or isinstance(node, ast.AugAssign):
        yield "statement removed", ast.Pass()
    if isinstance(node, ast.If) and not any(isinstance(x, ast.Raise) for x in ast.walk(node)):
        yield "statement removed", ast.Pass()


def _reads_its_target(node: ast.Assign) -> bool:
    """Return whether what a statement assigns had a value before, by the look of it."""
    names = {ast.unparse(part) for target in node.targets for part in ast.walk(target) if isinstance(part, ast.Name)}
    return any(isinstance(part, ast.Name) and part.id in names - {"self"} for part in ast.walk(node.value))


def _slices(node: ast.Slice) -> Iterator[Alternative]:
    one: Any = ast.Constant(1)
    for end in ("lower", "upper"):
        there = getattr(node, end)
        for op in (ast.Add(), ast.Sub()) if there is not None else ():
            yield "slice shifted", _with(node, **{end: ast.BinOp(there, op, one)})
    if node.lower is None:
        yield "slice shifted", _with(node, lower=one)
    if node.upper is None:
        yield "slice shifted", _with(node, upper=ast.UnaryOp(ast.USub(), one))
