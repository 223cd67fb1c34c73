"""What can be explained without torch: functions of the reference, components and conventions, read off the files."""

import ast
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import attnconf.adapters
import attnconf.reference
from attnconf.conformance.names import mutant_texts, parsed, replaced_functions
from attnconf.spec import registry


@dataclass(frozen=True)
class FunctionText:
    """A function of the reference, and the requirements that its docstring names."""

    chapter: str
    name: str
    line: int
    requirements: tuple[str, ...]
    whole: bool  # "the whole chapter"
    source: str  # without its docstring
    summary: str


@cache
def reference_texts(chapter: str) -> dict[str, FunctionText]:
    """Return the functions of a chapter's reference by name; none where it has no reference."""
    if chapter in registry.WITHOUT_REFERENCE:
        return {}
    text = (Path(str(attnconf.reference.__file__)).parent / f"{chapter}.py").read_text(encoding="utf-8")
    nodes = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    return {node.name: _function_text(node, chapter, text.split("\n")) for node in nodes}


def _function_text(node: ast.FunctionDef, chapter: str, lines: list[str]) -> FunctionText:
    said = ast.get_docstring(node) or ""
    named = re.search(r"Requirements: (.*?)(\n\w+:|\Z)", said, flags=re.DOTALL)
    body = node.body[1:] if said else node.body
    source = [*lines[node.lineno - 1 : node.body[0].lineno - 1], *lines[body[0].lineno - 1 : node.end_lineno]]
    ids = tuple(re.findall(r"[A-Z]+-[A-Z0-9]+-\d+", named[1])) if named else ()
    whole = named is not None and "whole chapter" in named[1]
    return FunctionText(chapter, node.name, node.lineno, ids, whole, "\n".join(source), said.partition("\n")[0])


@cache
def references(requirement: registry.Requirement) -> list[FunctionText]:
    """Return the functions of the reference that a requirement is about.

    Those whose docstrings name it; else those that the mistakes that break it replace, the most frequent; else the one
    that stands for the whole chapter.
    """
    every = {
        (chapter, name): f for chapter in registry.CHAPTERS.values() for name, f in reference_texts(chapter).items()
    }
    named = [f for f in every.values() if requirement.id in f.requirements and not f.whole]
    if named:
        return sorted(named, key=lambda f: f.chapter != requirement.chapter)
    breaking = [m for m in mutant_texts().values() if requirement.id in m.breaks]
    replaced = Counter(place for m in breaking for place in replaced_functions(m) if place in every)
    if replaced:
        return [every[replaced.most_common(1)[0][0]]]
    mine = reference_texts(requirement.chapter)
    whole = [f for f in mine.values() if f.whole or f.name == requirement.chapter]
    return whole[:1] or list(mine.values())[-1:]


@dataclass(frozen=True)
class ComponentText:
    """What the contract says of a component."""

    name: str
    config: str
    signature: str  # of forward, between the parentheses
    returns: str  # tensor, ids, text or merges
    docstring: str
    fields: tuple[str, ...]  # the lines of the configuration, those of its bases first


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
    signatures = {name: ast.unparse(value).strip("'") for name, value in _table("FORWARD")}
    plain = {
        ast.unparse(node.targets[0]): ast.literal_eval(node.value)
        for node in body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
    }
    returns = {name: ast.literal_eval(value) for name, value in _table("RETURNS")}
    return {
        name: ComponentText(
            name, ast.unparse(config), plain.get(signatures[name], signatures[name]), returns.get(name, "tensor"),
            ast.get_docstring(classes[ast.unparse(config)]) or "", tuple(_config_lines(classes, ast.unparse(config))),
        )
        for name, config in _table("COMPONENTS")
    }  # fmt: skip


def _config_lines(classes: dict[str, ast.ClassDef], name: str) -> list[str]:
    """Return the lines of a configuration's fields, with those it inherits."""
    node, lines = classes[name], _contract()[0].split("\n")
    inherited = [line for base in node.bases for line in _config_lines(classes, ast.unparse(base))]
    own = [lines[field.lineno - 1].strip() for field in node.body if isinstance(field, ast.AnnAssign)]
    return [*inherited, *own]


@dataclass(frozen=True)
class ConventionText:
    """A choice that the specification leaves open."""

    name: str
    choices: tuple[str, ...]  # the first is taken where nothing is declared
    rows: tuple[tuple[str, str], ...]  # (page, row of its table), spec/choices.md first


@cache
def convention_texts() -> dict[str, ConventionText]:
    """Return the conventions by name, with what the tables of the pages say of them."""
    pages = ["choices", *registry.CHAPTERS.values()]
    rows = [
        (page, line)
        for page in pages
        for line in (registry.PAGES / f"{page}.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| `")
    ]
    found = {}
    for name, listed in _table("CONVENTIONS"):
        choices = ast.literal_eval(listed)
        of_it = [row for row in rows if f"`{name}`" in row[1].split(" | ")[0]]
        # an argument may have the same name, and no choices
        found[name] = ConventionText(name, choices, tuple(row for row in of_it if f"`{choices[0]}`" in row[1]))
    return found
