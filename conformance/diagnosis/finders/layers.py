"""Finders for networks and stacks: activations, nested and repeated layers, and the axis of the batch."""

import ast

from attnconf.conformance.source.syntax import ACTIVATIONS, Code, Nodes, is_call, last_name, mentions, number


def nested_layers(code: Code) -> Nodes:
    """Find self.second(self.first(x))."""
    calls = [n for n in code.nodes if isinstance(n, ast.Call) and _own(n)]
    return [c for c in calls if c.args and _own(c.args[0]) and not _activates(c) and not _activates(c.args[0])]


def _own(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and last_name(node.func.value) == "self"
        and not mentions(node.func, "norm", "ln_", "drop")
    )  # fmt: skip


def _activates(node: ast.AST) -> bool:
    return is_call(node, *ACTIVATIONS, "act", "nonlin")


def activations(code: Code) -> Nodes:
    """Find calls of activation functions and of their modules."""
    return list(code.calls(*ACTIVATIONS))


def repeated_layer(code: Code) -> Nodes:
    """Find [layer] * n, or [layer for _ in range(n)]."""
    products = [n for n in code.nodes if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mult)]
    found: Nodes = [n for n in products if isinstance(n.left, ast.List) or isinstance(n.right, ast.List)]
    return found + [n for n in code.nodes if isinstance(n, ast.ListComp) and isinstance(n.elt, ast.Name | ast.Attribute)
                    and last_name(n.elt) not in {last_name(g.target) for g in n.generators}]  # fmt: skip


def sequence_first(code: Code) -> Nodes:
    """Find PyTorch's layers without batch_first=True."""
    names = ("multiheadattention", "transformerencoderlayer", "transformerdecoderlayer", "transformer")
    return [c for c in code.calls(*names) if last_name(c.func)[:1].isupper() and not _batch_first(c)]


def _batch_first(call: ast.Call) -> bool:
    return any(k.arg in ("batch_first", None) for k in call.keywords)


def over_one_more(code: Code) -> Nodes:
    """Find e / (1 + e)."""
    quotients = [n for n in code.nodes if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div)]
    sums = [(n, n.right) for n in quotients if isinstance(n.right, ast.BinOp) and isinstance(n.right.op, ast.Add)]
    return [n for n, total in sums if 1 in (number(total.left), number(total.right))]
