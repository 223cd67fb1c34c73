"""Finders for attention: roots and scales, products, softmaxes, how heads are split and merged."""

import ast
import re

from attnconf.conformance.source.syntax import (
    MODULES,
    TRANSPOSING,
    Code,
    Find,
    Nodes,
    argument,
    is_call,
    last_name,
    mentions,
    number,
)


def roots(code: Code) -> Nodes:
    """Find √x, x ** 0.5, x ** -0.5, but not of a variance."""
    found: Nodes = [c for c in code.calls("sqrt", "rsqrt") if not _of_variance(c)]
    powers = [n for n in code.nodes if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Pow)]
    found += [n for n in powers if number(n.right) in (0.5, -0.5) and not _of_variance(n)]
    return found + [c for c in code.calls("pow") if c.args and number(c.args[-1]) in (0.5, -0.5)]


def _of_variance(node: ast.AST) -> bool:
    return mentions(node, "var", "eps", "mean", "std", "pow", "square")


def products_with_transposed(code: Code) -> Nodes:
    """Find Q Kᵀ: a product with a factor transposed in place, or an einsum that sums over both last axes."""
    found: Nodes = []
    for node in code.nodes:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            found += [node] * any(turned(side) for side in (node.left, node.right))
        elif is_call(node, "matmul", "bmm", "baddbmm") and isinstance(node, ast.Call):
            found += [node] * any(turned(side) for side in node.args)
        elif is_call(node, "einsum") and isinstance(node, ast.Call):
            found += [node] * _sums_over_last(node)
    return found


def turned(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return last_name(node.func) in TRANSPOSING and last_name(node.func) != "rearrange"
    return isinstance(node, ast.Attribute) and node.attr in ("T", "mT")


def _sums_over_last(call: ast.Call) -> bool:
    first = call.args[0] if call.args else None
    text = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
    match = re.fullmatch(r"([\w. ]+),([\w. ]+)->([\w. ]+)", text)
    if not match:
        return False
    one, other, out = (group.split() if " " in group.strip() else list(group.strip()) for group in match.groups())
    return one[-1] == other[-1] and one[-1] not in out


def by_eight(code: Code) -> Nodes:
    wanted = {ast.Div: 8.0, ast.Mult: 0.125}
    binary = [n for n in code.nodes if isinstance(n, ast.BinOp) and type(n.op) in wanted]
    return [n for n in binary if number(n.right) == wanted[type(n.op)]]


def softmax_over(*axes: int) -> Find:
    def find(code: Code) -> Nodes:
        axis = [(c, argument(c, "dim", 1) or argument(c, "axis", 1)) for c in code.calls("softmax")]
        return [call for call, dim in axis if dim is None or number(dim) in axes]

    return find


def values_scored(code: Code) -> Nodes:
    """Find Q Vᵀ."""
    return [
        n
        for n in products_with_transposed(code)
        for side in ast.walk(n)
        if turned(side) and _is(side, "v", "vs", "value", "values")
    ]


def _is(node: ast.AST, *names: str) -> bool:
    inner: ast.AST = node.func if isinstance(node, ast.Call) else node
    while isinstance(inner, ast.Attribute):
        inner = inner.value
    return last_name(inner).lower() in names


def split_in_place(code: Code) -> Nodes:
    """Find view(…, heads, …) without a transpose behind it."""
    plain = [c for c in _reshapes(code) if not _turns_around(code, c) and not _turns_inside(c)]
    return [c for c in plain if _axes(c) >= 3 and not mentions(c, "mask")]


def merged_in_place(code: Code) -> Nodes:
    """Find reshape(batch, length, width) of a tensor that is not transposed."""
    return [
        c for c in (*_reshapes(code), *code.calls("flatten"))
        if _axes(c) <= 3 and not _turns_inside(c) and not _turns_around(code, c) and not mentions(c, "mask")
    ]  # fmt: skip


def _reshapes(code: Code) -> list[ast.Call]:
    return code.calls("view", "reshape")


def _axes(call: ast.Call) -> int:
    sizes = (
        call.args if isinstance(call.func, ast.Attribute) and last_name(call.func.value) != "torch" else call.args[1:]
    )
    only = sizes[0] if len(sizes) == 1 else None
    return len(only.elts) if isinstance(only, ast.Tuple | ast.List) else len(sizes)


def _turns_around(code: Code, node: ast.AST) -> bool:
    return any(last_name(n) in TRANSPOSING for n in code.around(node) if isinstance(n, ast.Attribute))


def _turns_inside(call: ast.Call) -> bool:
    """Return whether a call's arguments, or the tensor before its dot, are transposed; a length named T is not."""
    names = (last_name(n) for n in ast.walk(call) if not (isinstance(n, ast.Name) and len(n.id) == 1))
    return any(name in TRANSPOSING for name in names)


def roots_from(code: Code) -> Nodes:
    """Find the assignment to the name under a root, if there is only one; else the root."""
    names = {n.id for root in roots(code) for n in ast.walk(root) if isinstance(n, ast.Name) and n.id not in MODULES}
    stored: Nodes = [n for n in code.nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    found = [n for n in stored if last_name(n) in names]
    return found if len(found) == 1 else roots(code)
