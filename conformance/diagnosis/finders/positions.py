"""Finders for positions: where they begin, powers and bases, pairs, and ranges."""

import ast

from attnconf.conformance.source.syntax import Code, Nodes, is_call, mentions, number


def from_one(code: Code) -> Nodes:
    """Find arange(1, …), range(1, …), arange(…) + 1, position + 1."""
    starts: Nodes = [c for c in code.calls("arange", "range") if len(c.args) > 1 and number(c.args[0]) == 1]
    sums = [n for n in code.nodes if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Add) and number(n.right) == 1]
    return starts + [n for n in sums if is_call(n.left, "arange") or mentions(n.left, "pos")]


def powers(code: Code) -> Nodes:
    """Find base ** exponent, pow, exp(… log(base))."""
    raised = [n for n in code.nodes if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Pow)]
    found: Nodes = [n for n in raised if number(n.right) not in (0.5, -0.5, 2.0, 3.0)]
    found += [c for c in code.calls("pow", "float_power") if not (c.args and number(c.args[-1]) in (0.5, 2.0))]
    return found + [c for c in code.calls("exp") if any(is_call(n, "log") for n in ast.walk(c))]


def other_base(code: Code) -> Nodes:
    """Find a power or logarithm of a number that is not 10000."""
    bases = [n.left for n in powers(code) if isinstance(n, ast.BinOp)]
    bases += [c.args[0] for c in code.calls("log", "pow", "float_power") if c.args]
    found: Nodes = [b for b in bases if (v := number(b)) is not None and v not in (10000.0, 2.0)]
    default = [a for f in code.functions for a in f.args.defaults]
    return found or [d for d in default if (v := number(d)) is not None and v >= 100 and v != 10000 and v % 10 == 0]


def literal_base(code: Code) -> Nodes:
    """Find 10000 in a power."""
    return [n for p in powers(code) for n in ast.walk(p) if number(n) == 10000.0]


def joined_to_input(code: Code) -> Nodes:
    return list(code.calls("cat", "concat", "concatenate"))


def negated_half(code: Code) -> Nodes:
    """Find cat or stack of (−b, a), with any signs."""
    joined = [c for c in code.calls("cat", "stack", "concat") if c.args and isinstance(c.args[0], ast.Tuple | ast.List)]
    signed = [c for c in joined if any(isinstance(n, ast.USub) for n in ast.walk(c.args[0]))]
    return list(signed or joined)


def clamped(code: Code) -> Nodes:
    return list(code.calls("clamp", "clip", "clamp_", "clamp_max", "minimum"))


def wrapped(code: Code) -> Nodes:
    remainders: Nodes = [n for n in code.nodes if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mod)]
    strings = [n for n in remainders if isinstance(n, ast.BinOp) and isinstance(n.left, ast.Constant)]
    guards = [n for n in remainders if any(isinstance(a, ast.Assert | ast.Compare) for a in code.around(n))]
    asserted = [n for n in remainders if isinstance(code.statement(n), ast.Assert | ast.If | ast.Raise)]
    return [*(n for n in remainders if n not in (*strings, *guards, *asserted)), *code.calls("remainder", "fmod")]


def positions_divided(code: Code) -> Nodes:
    """Find position / divisor, position * divisor."""
    binary = [n for n in code.nodes if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div | ast.Mult)]
    return [n for n in binary if isinstance(n.right, ast.Name) and mentions(n.left, "pos") and not number(n.left)]
