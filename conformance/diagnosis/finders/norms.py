"""Finders for norms: statistics, ε, axes, and the sum around a norm."""

import ast

from attnconf.conformance.source.syntax import Code, Nodes, argument, is_call, last_name, mentions, number


def biased(code: Code) -> Nodes:
    """Find std and var that divide by n - 1."""
    corrected = ("unbiased", "correction", "ddof")
    return [
        c for c in code.calls("std", "var", "var_mean", "std_mean") if not any(k.arg in corrected for k in c.keywords)
    ]


def added_to_root(code: Code) -> Nodes:
    """Find std + eps, √var + eps."""
    sums = [n for n in code.nodes if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Add) and _small(n.right)]
    powers = [n for n in sums if isinstance(n.left, ast.BinOp) and isinstance(n.left.op, ast.Pow)]
    rooted: Nodes = [n for n in powers if isinstance(n.left, ast.BinOp) and number(n.left.right) == 0.5]
    named = [n for n in sums if is_call(n.left, "std", "sqrt", "norm") or mentions(n.left, "std", "rms", "root")]
    return [*rooted, *(n for n in named if n not in rooted)]


def _small(node: ast.AST) -> bool:
    value = number(node)
    return mentions(node, "eps") or (value is not None and 0 < value < 1e-2)


def fixed_small(code: Code) -> Nodes:
    """Find a number in the place of eps."""
    sums = [n for n in code.nodes if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Add)]
    found: Nodes = [n for n in sums if (v := number(n.right)) is not None and 0 < v < 1e-2]
    calls = [n for n in code.nodes if isinstance(n, ast.Call)]
    given = [(c, k.value) for c in calls for k in c.keywords if k.arg == "eps"]
    return found + [c for c, eps in given if number(eps) is not None]


def over_other_axes(code: Code) -> Nodes:
    """Find mean, var and std over other axes than the last."""
    axes = [(c, argument(c, "dim", 1)) for c in code.calls("mean", "var", "std", "var_mean", "std_mean")]
    found = [c for c, dim in axes if dim is None or number(dim) not in (-1.0, None) or isinstance(dim, ast.Tuple)]
    lines = sorted({c.lineno for c in found})
    together = bool(lines) and lines[-1] - lines[0] < len(lines)  # mean, then variance: one place
    return [c for c in found if c.lineno == lines[0]] if together else list(found)


def centred(code: Code) -> Nodes:
    """Find x - x.mean(…)."""
    differences = [n for n in code.nodes if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Sub)]
    return [n for n in differences if is_call(n.right, "mean") or mentions(n.right, "mean", "mu")]


def first_element(code: Code) -> Nodes:
    """Find x[0]."""
    return [n for n in code.nodes if isinstance(n, ast.Subscript) and number(n.slice) == 0]


def normed_branch(code: Code) -> Nodes:
    """Find x + norm(…)."""
    sums = [n for n in code.nodes if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Add)]
    return [n for n in sums if any(is_call(side, "norm", "ln") for side in (n.left, n.right))]


def norm_then_sum(code: Code) -> Nodes:
    """Find x = norm(x), whose x is then the residual."""
    assigned = [n for n in code.nodes if isinstance(n, ast.Assign) and is_call(n.value, "norm", "ln")]
    calls = [(n, n.value) for n in assigned if isinstance(n.value, ast.Call)]
    return [n for n, call in calls if last_name(n.targets[0]) in [last_name(a) for a in call.args]]


def unsummed(code: Code) -> Nodes:
    """Find x = norm(sublayer(…)), or x = sublayer(…), without the sum x + …."""
    assigned = [n for n in code.nodes if isinstance(n, ast.Assign) and is_call(n.value, "norm", "ln")]
    inner = [(n, n.value.args[0]) for n in assigned if isinstance(n.value, ast.Call) and n.value.args]
    return [n for n, given in inner if isinstance(given, ast.Call)]
