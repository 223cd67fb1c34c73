"""Components and conventions of the contract, read off adapters/contract.py without importing torch."""

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import attnconf.adapters
from attnconf.conformance.engine.catalogue import parsed
from attnconf.spec import registry


@dataclass(frozen=True)
class ComponentText:
    """A component's record in the contract, as text."""

    name: str
    config: str
    signature: str  # of forward, between the parentheses
    returns: str  # tensor, ids, text or merges
    docstring: str
    fields: tuple[str, ...]  # the lines of the configuration, those of its bases first
    made_of: tuple[str, ...]
    conventions: tuple[str, ...]  # open to it


@cache
def _contract() -> tuple[str, ast.Module]:
    path = Path(str(attnconf.adapters.__file__)).parent / "contract.py"
    return path.read_text(encoding="utf-8"), parsed(path)


def _table(name: str) -> list[tuple[str, ast.expr]]:
    """Return the entries of one of the contract's tables."""
    for node in _contract()[1].body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            assert isinstance(node.value, ast.Dict)
            return [(ast.literal_eval(k), v) for k, v in zip(node.value.keys, node.value.values, strict=True) if k]
    raise KeyError(name)


@cache
def component_texts() -> dict[str, ComponentText]:
    """Return the components of the contract by name."""
    body = _contract()[1].body
    classes = {node.name: node for node in body if isinstance(node, ast.ClassDef)}
    found = {}
    for name, record in _table("COMPONENTS"):
        assert isinstance(record, ast.Call)
        config, signature, *returns = record.args  # Component(config, forward, returns, …)
        rest = {keyword.arg: keyword.value for keyword in record.keywords}
        made_of, conventions = (_words(rest[of]) if of in rest else () for of in ("made_of", "conventions"))
        node = classes[ast.unparse(config)]
        found[name] = ComponentText(
            name, node.name, _words(signature)[0], ast.literal_eval(returns[0]) if returns else "tensor",
            ast.get_docstring(node) or "", tuple(_config_lines(classes, node.name)), made_of, conventions,
        )  # fmt: skip
    return found


def _words(expression: ast.expr) -> tuple[str, ...]:
    """Return the strings in an expression of the contract, with its names (``_MASKS``) replaced by their values."""
    if isinstance(expression, ast.Starred):
        return _words(expression.value)
    if isinstance(expression, ast.Name):
        values = (node.value for node in _contract()[1].body if isinstance(node, ast.Assign)
                  and ast.unparse(node.targets[0]) == expression.id)  # fmt: skip
        return _words(next(values))
    if isinstance(expression, ast.Tuple):
        return tuple(word for one in expression.elts for word in _words(one))
    return (ast.literal_eval(expression),)


def _config_lines(classes: dict[str, ast.ClassDef], name: str) -> list[str]:
    """Return the lines of a configuration's fields, with those it inherits, its own in their place."""
    node, lines = classes[name], _contract()[0].split("\n")
    inherited = [line for base in node.bases for line in _config_lines(classes, ast.unparse(base))]
    own = [lines[field.lineno - 1].strip() for field in node.body if isinstance(field, ast.AnnAssign)]
    return list({line.partition(":")[0]: line for line in (*inherited, *own)}.values())


@dataclass(frozen=True)
class ConventionText:
    """A choice that the specification leaves open."""

    name: str
    choices: tuple[str, ...]  # the first is taken where nothing is declared
    rows: tuple[tuple[str, str], ...]  # (page, row of its table), spec/choices.md first


@cache
def convention_texts() -> dict[str, ConventionText]:
    """Return the conventions by name, each with its rows in the tables of the pages."""
    pages = ["choices", *registry.CHAPTERS.values()]
    rows = [
        (page, line)
        for page in pages
        for line in registry.page(page).read_text(encoding="utf-8").splitlines()
        if line.startswith("| `")
    ]
    found = {}
    for name, listed in _table("CONVENTIONS"):
        choices = ast.literal_eval(listed)
        of_it = [row for row in rows if f"`{name}`" in row[1].split(" | ")[0]]
        # an argument may have the same name, and no choices
        found[name] = ConventionText(name, choices, tuple(row for row in of_it if f"`{choices[0]}`" in row[1]))
    return found
