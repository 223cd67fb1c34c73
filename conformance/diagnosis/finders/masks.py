"""Finders for masks: fills, products, triangles, and masks of padding that stand on rows."""

import ast

from attnconf.conformance.source.syntax import Code, Find, Nodes, argument, last_name, mentions, number

GIVEN = ("mask", "bias", "penalty")


def fills(code: Code) -> Nodes:
    """Find masked_fill, or where with a mask."""
    where = [c for c in code.calls("where") if c.args and mentions(c.args[0], "mask", "causal", "pad", "keep", "valid")]
    return [*code.calls("masked_fill", "masked_fill_"), *where]


def weak_fills(code: Code) -> Nodes:
    """Find fills with a number above -1e30, and masks multiplied by a number below 1e30."""
    filled = [c for c in fills(code) if isinstance(c, ast.Call)]
    found: Nodes = [c for c in filled if any((v := number(a)) is not None and v > -1e30 for a in c.args)]
    return found + [
        n for n in code.nodes
        if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mult) and mentions(n, "mask")
        and any((v := number(side)) is not None and 1 <= abs(v) < 1e30 for side in (n.left, n.right))
    ]  # fmt: skip


def times_mask(code: Code) -> Nodes:
    products = [n for n in code.nodes if isinstance(n, ast.BinOp | ast.AugAssign) and isinstance(n.op, ast.Mult)]
    sides = [(n, (n.left, n.right) if isinstance(n, ast.BinOp) else (n.value,)) for n in products]
    return [n for n, both in sides if any(mentions(side, "mask") and number(side) is None for side in both)]


def added(code: Code) -> Nodes:
    """Find sums with a mask or a bias."""
    return _combined(code, ast.Add)


def subtracted(code: Code) -> Nodes:
    """Find differences from which a mask or a bias is taken."""
    return _combined(code, ast.Sub)


def _combined(code: Code, how: type[ast.operator]) -> Nodes:
    """Find what has a mask or a bias on its right side, and sums with one on any side."""
    found: Nodes = []
    for n in code.nodes:
        if isinstance(n, ast.AugAssign) and isinstance(n.op, how) and mentions(n.value, *GIVEN):
            found.append(n)
        elif isinstance(n, ast.BinOp) and isinstance(n.op, how):
            sides = (n.left, n.right) if how is ast.Add else (n.right,)
            others = [side for side in sides if mentions(side, *GIVEN)]
            found += [n] if len(others) == 1 and number(n.left) is None else []
    return found


def first_of_mask(code: Code) -> Nodes:
    """Find mask[0] and mask[:1]."""
    taken = [n for n in code.nodes if isinstance(n, ast.Subscript) and mentions(n.value, "mask")]
    return [n for n in taken if number(n.slice) == 0 or (isinstance(n.slice, ast.Slice) and _is_first(n.slice))]


def _is_first(part: ast.Slice) -> bool:
    return number(part.upper) == 1 and number(part.lower or ast.Constant(0)) == 0


def triangles(*, upper: tuple[float, ...], lower: tuple[float, ...]) -> Find:
    """Find triu and tril with one of these diagonals."""

    def find(code: Code) -> Nodes:
        found: Nodes = []
        for name, wanted in (("triu", upper), ("tril", lower)):
            found += [c for c in code.calls(name) if (number(argument(c, "diagonal", 1) or ast.Constant(0))) in wanted]
        return found

    return find


def padding_on_rows(code: Code) -> Nodes:
    """Find mask[:, None, :, None], mask.unsqueeze(-1), mask.view(b, 1, n, 1)."""
    found: Nodes = []
    for node in code.nodes:
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
            end = node.slice.elts[-1]
            found += [node] * (isinstance(end, ast.Constant) and end.value is None)
        elif isinstance(node, ast.Call) and node.args and last_name(node.func) in ("view", "reshape"):
            found += [node] * (number(node.args[-1]) == 1)
        elif isinstance(node, ast.Call) and last_name(node.func) == "unsqueeze":
            found += [node] * (number(node.args[-1] if node.args else None) in (-1, 3))
    return found
