"""Finders for what becomes of a tensor or name: not read, cut from the graph, changed, dropped, narrowed, kept."""

import ast
import re

from attnconf.conformance.source.syntax import Code, Find, Nodes, argument, is_call, last_name, mentions


def idle(*words: str) -> Find:
    """Find attributes, arguments and local variables that nothing reads; with ``words``, those named like one."""

    def find(code: Code) -> Nodes:
        read = {n.attr for n in code.nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load)}
        made = [n for n in code.nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)]
        lost: Nodes = [n for n in made if last_name(n.value) == "self" and n.attr not in read]
        lost += [name for function in code.functions for name in _unread(function)]
        return [n for n in lost if not words or _named(code, n, words)]

    return find


def _unread(function: ast.AST) -> Nodes:
    names = [n for n in ast.walk(function) if isinstance(n, ast.Name)]
    read = {n.id for n in names if isinstance(n.ctx, ast.Load)}
    given = [n for n in ast.walk(function) if isinstance(n, ast.arg) and n.arg not in ("self", "cls", "_")]
    stored: Nodes = [n for n in names if isinstance(n.ctx, ast.Store) and n.id not in read and n.id != "_"]
    return [*stored, *(n for n in given if n.arg not in read)]


def _named(code: Code, node: ast.AST, words: tuple[str, ...]) -> bool:
    name = node.arg if isinstance(node, ast.arg) else last_name(node)
    statement = code.statement(node)
    made = isinstance(statement, ast.Assign) and any(is_call(statement.value, word) for word in words)
    return made or any(word in name.lower() for word in words)


def cutting(code: Code) -> Nodes:
    """Find detach(), .data, no_grad, numpy()."""
    data: Nodes = [n for n in code.nodes if isinstance(n, ast.Attribute) and n.attr == "data"]
    return [*code.calls("detach", "no_grad", "numpy", "tolist", "inference_mode"), *data]


def changing(code: Code) -> Nodes:
    """Find x.mul_(…) and, for an argument x, x += … or x[…] = …."""
    calls = [n for n in code.nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]
    found: Nodes = [
        c for c in calls
        if re.fullmatch(r"[a-z]\w*[a-z0-9]_", last_name(c.func)) and last_name(c.func) != "requires_grad_"
        and not mentions(c.func, "init") and "init" not in getattr(c.func, "attr", "")
    ]  # fmt: skip
    for function in code.functions:
        given = {a.arg for a in (*function.args.args, *function.args.kwonlyargs)} - {"self"}
        for node in ast.walk(function):
            target = node.target if isinstance(node, ast.AugAssign) else None
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
                target = node.targets[0].value  # type: ignore[assignment]
            if target is not None and last_name(target) in given and isinstance(target, ast.Name):
                found.append(node)
    return found


def always_dropping(code: Code) -> Nodes:
    """Find dropout(x, p) without training=, and scaled_dot_product_attention(dropout_p=p) in all modes."""
    plain = [c for c in code.calls("dropout") if argument(c, "training", 2) is None and not _is_module(c)]
    fused = [(c, argument(c, "dropout_p", 4)) for c in code.calls("scaled_dot_product_attention")]
    return [*plain, *(call for call, p in fused if p is not None and not mentions(p, "training"))]


def _is_module(call: ast.Call) -> bool:
    return last_name(call.func)[:1].isupper() or (
        isinstance(call.func, ast.Attribute) and last_name(call.func.value) == "self"
    )


def narrowing(*types: str) -> Find:
    """Find x.half(), x.to(torch.float16), dtype=torch.float16."""

    def find(code: Code) -> Nodes:
        defaults = {id(d) for f in code.functions for d in f.args.defaults}
        named = [n for n in code.nodes if isinstance(n, ast.Attribute) and n.attr in types and id(n) not in defaults]
        return [n for n in named if not any(isinstance(a, ast.Compare) for a in code.around(n))]

    return find


def kept_calls(code: Code) -> Nodes:
    """Find @lru_cache, @cache."""
    marks = [d for f in code.functions for d in f.decorator_list]
    return [d for d in marks if last_name(d.func if isinstance(d, ast.Call) else d) in ("cache", "lru_cache")]
