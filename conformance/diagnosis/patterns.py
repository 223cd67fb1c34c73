"""Finders: functions that return the places of a text whose code has a certain shape, ``x.view(b, n, h, d)`` say.

The table in locate.py says which mutant's mistake has which shape. A shape is looked for only after the numbers have
shown the mistake, so it may also be the shape of right code.
"""

import ast
import re

from attnconf.conformance.source.syntax import (
    ACTIVATIONS,
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

# -- attention


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
            found += [node] * any(_turned(side) for side in (node.left, node.right))
        elif is_call(node, "matmul", "bmm", "baddbmm") and isinstance(node, ast.Call):
            found += [node] * any(_turned(side) for side in node.args)
        elif is_call(node, "einsum") and isinstance(node, ast.Call):
            found += [node] * _sums_over_last(node)
    return found


def _turned(node: ast.AST) -> bool:
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


def calling(*names: str) -> Find:
    """Find calls of functions or methods with these names."""
    return lambda code: list(code.calls(*names))


def values_scored(code: Code) -> Nodes:
    """Find Q Vᵀ."""
    return [
        n
        for n in products_with_transposed(code)
        for side in ast.walk(n)
        if _turned(side) and _is(side, "v", "vs", "value", "values")
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


# -- masks


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


# -- unused names


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


# -- derivatives, dropout, changes in place


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


# -- norms


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


# -- networks and stacks


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


# -- positions


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


def keyword_given(*names: str) -> Find:
    """Find calls with one of these keywords."""

    def find(code: Code) -> Nodes:
        calls = [n for n in code.nodes if isinstance(n, ast.Call)]
        return [k.value for c in calls for k in c.keywords if k.arg in names]

    return find


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


def over_one_more(code: Code) -> Nodes:
    """Find e / (1 + e)."""
    quotients = [n for n in code.nodes if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div)]
    sums = [(n, n.right) for n in quotients if isinstance(n.right, ast.BinOp) and isinstance(n.right.op, ast.Add)]
    return [n for n, total in sums if 1 in (number(total.left), number(total.right))]


def positions_divided(code: Code) -> Nodes:
    """Find position / divisor, position * divisor."""
    binary = [n for n in code.nodes if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div | ast.Mult)]
    return [n for n in binary if isinstance(n.right, ast.Name) and mentions(n.left, "pos") and not number(n.left)]


def roots_from(code: Code) -> Nodes:
    """Find the assignment to the name under a root, if there is only one; else the root."""
    names = {n.id for root in roots(code) for n in ast.walk(root) if isinstance(n, ast.Name) and n.id not in MODULES}
    stored: Nodes = [n for n in code.nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    found = [n for n in stored if last_name(n) in names]
    return found if len(found) == 1 else roots(code)


def returning(find: Find) -> Find:
    """Find the return of forward, if the finder finds something."""

    def at_return(code: Code) -> Nodes:
        holders = [code.class_of(node) for node in find(code)]
        functions = [f for f in code.functions if f.name in ("forward", "__call__") and code.class_of(f) in holders]
        return [n for f in functions for n in ast.walk(f) if isinstance(n, ast.Return)]

    return at_return


def returned(find: Find) -> Find:
    """Find the finder's places within a return."""
    return lambda code: [node for node in find(code) if isinstance(code.statement(node), ast.Return)]


def nothing(code: Code) -> Nodes:
    """Find no place: the mistake is made in two places, each of which is right alone."""
    return []


def either(*finders: Find) -> Find:
    """Find the places of the first finder that finds any."""
    return lambda code: next((found for find in finders if (found := find(code))), [])
