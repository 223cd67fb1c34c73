"""Numbers and conditions in a syntax tree: what masks fill with, when, and what a norm adds. Nothing is run."""

import ast
import math
import re
from collections.abc import Mapping

from attnconf.reports.studies.reading import values as known
from attnconf.reports.studies.reading.statements import Event
from attnconf.reports.studies.reading.values import Definition, last_name

LARGE = 1e3  # what hides scores is at least that much below them
SMALL = 0.01  # what is more is no ε
LOWEST = "the dtype's lowest"
MAKES = {"float", "tensor", "as_tensor", "float32", "constant", "full", "full_like"}
SAME = {"bool", "unsqueeze", "to", "expand", "view", "type", "byte", "expand_as"}  # a condition stays what it is
NORMS = {"layer_norm": 4, "rms_norm": 3}  # functions of torch: the place of ε
Texts = Mapping[str, ast.expr]


def constant(node: ast.AST | None) -> float | None:
    """Return the number that an expression is, or None."""
    match node:
        case ast.Constant(value=bool() | int() | float() as value):
            return float(value)
        case ast.Constant(value=str(text)) if re.fullmatch(r"\s*-?(inf|\d[\d.e+-]*)\s*", text):
            return float(text)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            number = constant(inner)
            return None if number is None else -number
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            base, power = constant(left), constant(right)
            return None if base is None or power is None or abs(power) > 40 else base**power
        case ast.Attribute(attr="inf" | "Inf" | "infty"):
            return math.inf
        case ast.Attribute(attr="NINF"):
            return -math.inf
        case ast.Call(func=func, args=given) if last_name(func) in MAKES:
            numbers = [constant(one) for one in given]
            return next((number for number in numbers if number is not None and abs(number) > LARGE), None)
    return None


def from_constructor(owner: ast.ClassDef | None, name: str) -> ast.expr | None:
    """Return what an attribute, a buffer or an argument of the constructor begins with."""
    for maker in known.makers(owner):
        if name in known.defaults(maker):
            return known.defaults(maker)[name]
        for node in ast.walk(maker):
            match node:
                case ast.Assign(targets=[ast.Attribute(attr=attr)], value=value) if attr == name:
                    inner = last_name(value)
                    return from_constructor(owner, inner) if inner and inner != name else value
                case ast.Call(func=ast.Attribute(attr="register_buffer"), args=[ast.Constant(value=text), value, *_]):
                    if text == name:
                        return value
    return None


def amount(node: ast.AST | None, texts: Texts, owner: ast.ClassDef | None) -> str:
    """Return the number far below all scores that an expression has in it, in words; nothing where it has none."""
    number = constant(node)
    if node is None or number is not None:
        return "" if number is None else written(number)
    if re.search(r"finfo\(.*\)\.(min|max)|\.min$", ast.unparse(node)):
        return LOWEST
    if isinstance(node, ast.Name):
        return amount(texts.get(node.id), {k: v for k, v in texts.items() if k != node.id}, owner)
    if known.is_own(node):
        return amount(from_constructor(owner, last_name(node)), texts, None)
    for child in ast.iter_child_nodes(node):
        found = amount(child, texts, owner) if isinstance(child, ast.expr) else ""
        if found == LOWEST or (found and abs(float(found)) >= LARGE):
            return found
    return ""


def written(number: float) -> str:
    """Return a number in short: -1e9."""
    if math.isinf(number):
        return "-inf"
    short = f"{number:.0e}"
    text = short if float(short) == number and (abs(number) >= LARGE or abs(number) < SMALL) else f"{number:.6g}"
    return re.sub(r"e([+-])0?", lambda sign: "e-" if sign[1] == "-" else "e", text)


def fill(event: Event, texts: Texts, owner: ast.ClassDef | None) -> str:
    """Return what scores are filled with, or what is added to them; nothing where the code does not say it."""
    found = amount(event.written if event.how == "added" else event.fill, texts, owner)
    return f"-{found}" if event.how == "added" and found[:1].isdigit() else found


def sense(node: ast.AST | None) -> tuple[str, bool | None]:
    """Return how a condition is written, and whether it holds where the mask has 1 or True; None: by neither."""
    match node:
        case ast.Compare(ops=[ast.Eq() | ast.NotEq() as sign], comparators=[ast.Constant(value=0 | 1 as number)]):
            same, one = isinstance(sign, ast.Eq), number == 1
            return f"mask {'==' if same else '!='} {one:d}", same == one
        case ast.Compare(ops=[ast.Gt()], comparators=[ast.Constant(value=0)]):
            return "mask > 0", True
        case ast.Call(func=func, args=[*_, ast.Constant(value=number)]) if last_name(func) in ("eq", "equal"):
            return f"mask == {int(bool(number))}", bool(number)
        case ast.UnaryOp(op=ast.Invert() | ast.Not()):
            return "~mask", False
        case ast.Call(func=func) if last_name(func) == "logical_not":
            return "~mask", False
        case ast.BinOp(left=ast.Constant(value=1), op=ast.Sub()):
            return "1 - mask", False
        case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in SAME or not isinstance(inner, ast.Name):
            return sense(inner)
        case ast.Subscript(value=inner):
            return sense(inner)
        case ast.Compare() | ast.BinOp() | ast.BoolOp():
            return "a comparison holds", None
    return "mask", True


def epsilon(thing: Definition, names: list[str]) -> list[str]:
    """Return what a norm adds by default, if its ε is called by one of these names, or is written in the code."""
    for maker in [thing] if isinstance(thing, ast.FunctionDef) else known.makers(thing):
        given = {name: constant(value) for name, value in known.defaults(maker).items()}
        told = [value for name in names if (value := given.get(name)) is not None]
        if told:
            return [written(told[0])]
        if any(name in known.arguments(maker) for name in names):
            return ["no default"]
    return ["an entry of a configuration"] if names else in_the_code(thing)


def in_the_code(thing: Definition) -> list[str]:
    """Return an ε that is a number: in a sum, or handed to a function of torch that norms."""
    found: list[float | None] = []
    owner = thing if isinstance(thing, ast.ClassDef) else None
    for node in ast.walk(thing):
        match node:
            case ast.BinOp(op=ast.Add(), right=right):
                found.append(constant(from_constructor(owner, last_name(right)) if known.is_own(right) else right))
            case ast.Call(func=func, args=given) if last_name(func) in NORMS:
                place = NORMS[last_name(func)]
                found += [constant(known.keyword(node, "eps")), *(constant(one) for one in given[place : place + 1])]
    return [written(number) for number in found if number and 0 < number < SMALL][:1]
