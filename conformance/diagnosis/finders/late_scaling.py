"""Find Q Kᵀ that is scaled only after it was multiplied out: the line of the product, where it overflows."""

import ast

from attnconf.conformance.diagnosis.finders.attention import roots
from attnconf.conformance.source.syntax import MODULES, Code, Nodes, last_name, number

PRODUCTS = ("matmul", "bmm", "baddbmm", "einsum", "dot")
SCALINGS = ("mul", "mul_", "div", "div_", "multiply", "divide", "true_divide")
Assignment = ast.Assign | ast.AnnAssign | ast.AugAssign


def products_scaled_later(code: Code) -> Nodes:
    """Return the products that are multiplied or divided by a root; the roots, if no such product is found."""
    factors: Nodes = [use for root in roots(code) for use in _uses(code, root)]
    places = [product for factor in factors for product in _products_in(code, _scaled_by(code, factor))]
    return places or roots(code)


def _uses(code: Code, root: ast.AST) -> Nodes:
    """Return the root itself if it scales something, else the uses of the name it is kept under: ``s = d**-0.5``."""
    kept = code.statement(root)
    if _scaled_by(code, root) is not None or not isinstance(kept, ast.Assign):
        return [root]
    names = {last_name(target) for target in kept.targets} - {""}
    return [node for node in code.nodes if last_name(node) in names and code.statement(node) is not kept]


def _scaled_by(code: Code, factor: ast.AST) -> ast.AST | None:
    """Return what a factor multiplies or divides; None if that is nothing but numbers."""
    inner = factor
    for outer in code.around(factor):
        if isinstance(outer, ast.BinOp) and isinstance(outer.op, ast.Mult | ast.Div):
            other = outer.right if outer.left is inner else outer.left
            if number(other) is None:
                return other
        elif isinstance(outer, ast.Call) and last_name(outer.func) in SCALINGS and inner in outer.args:
            before_dot = outer.func.value if isinstance(outer.func, ast.Attribute) else None
            return outer.args[0] if before_dot is None or last_name(before_dot) in MODULES else before_dot
        inner = outer
    kept = code.statement(factor)
    return kept.target if isinstance(kept, ast.AugAssign) and isinstance(kept.op, ast.Mult | ast.Div) else None


def _products_in(code: Code, scaled: ast.AST | None) -> Nodes:
    """Return the product in an expression; for a name, that of the last assignment to it before it is scaled."""
    if scaled is None:
        return []
    products = [node for node in ast.walk(scaled) if _is_product(node)]
    if products or not last_name(scaled):
        return products[:1]
    line = getattr(scaled, "lineno", 0)
    assigned = [node for node in code.nodes if isinstance(node, Assignment) and node.lineno < line and node.value]
    same_name = [node for node in assigned if last_name(scaled) in {last_name(target) for target in _targets(node)}]
    earlier = [part for node in same_name for part in ast.walk(node) if _is_product(part)]
    return sorted(earlier, key=lambda node: getattr(node, "lineno", 0))[-1:]


def _targets(assignment: Assignment) -> list[ast.expr]:
    return assignment.targets if isinstance(assignment, ast.Assign) else [assignment.target]


def _is_product(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.MatMult)
    return isinstance(node, ast.Call) and last_name(node.func) in PRODUCTS
