"""Names that can be listed without importing torch: adapters, mutants and checks, read off the files."""

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import attnconf.adapters
from attnconf.spec import registry

NOT_ADAPTERS = {"__init__", "contract", "binding", "hugging_face", "jax_bridge", "layout"}


@cache
def adapter_names() -> tuple[str, ...]:
    """Return the names of the shipped adapters."""
    files = Path(str(attnconf.adapters.__file__)).parent.glob("*.py")
    return tuple(sorted(path.stem for path in files if path.stem not in NOT_ADAPTERS))


@dataclass(frozen=True)
class MutantText:
    """What a mutant says of itself."""

    id: str
    chapter: str
    story: str
    breaks: tuple[str, ...]
    hint: str
    source: str
    line: int


@cache
def mutant_texts() -> dict[str, MutantText]:
    """Return the mutants of all chapters by id, in the order of their modules."""
    found = {}
    for chapter in registry.CHAPTERS.values():
        for node in _parsed(Path(__file__).parent / "mutants" / f"{chapter}.py").body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _named(node.value, "Mutant"):
                mutant = _mutant_text(node.value, chapter)
                found[mutant.id] = mutant
    return found


def _mutant_text(call: ast.Call, chapter: str) -> MutantText:
    given = {k.arg: k.value for k in call.keywords}
    breaks = sorted(str(n.value) for n in ast.walk(given["breaks"]) if isinstance(n, ast.Constant))
    words = {key: ast.literal_eval(given[key]) if key in given else "" for key in ("story", "hint", "source")}
    return MutantText(ast.literal_eval(call.args[0]), chapter, breaks=tuple(breaks), line=call.lineno, **words)


def _named(call: ast.Call, name: str) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == name


@cache
def adapter_texts() -> dict[str, str]:
    """Return the first line of every shipped adapter's docstring, by name."""
    folder = Path(str(attnconf.adapters.__file__)).parent
    docs = {name: ast.get_docstring(_parsed(folder / f"{name}.py")) or "" for name in adapter_names()}
    return {name: doc.partition("\n")[0] for name, doc in docs.items()}


@dataclass(frozen=True)
class CheckText:
    """Where the check of a requirement stands."""

    function: str
    chapter: str
    line: int


@cache
def check_texts(chapter: str) -> dict[str, CheckText]:
    """Return the checks in a chapter's module by requirement: the functions marked ``@requirement("…")``."""
    found = {}
    for node in _parsed(Path(__file__).parent / f"{chapter}.py").body:
        for mark in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
            if isinstance(node, ast.FunctionDef) and isinstance(mark, ast.Call) and _named(mark, "requirement"):
                found[ast.literal_eval(mark.args[0])] = CheckText(node.name, chapter, node.lineno)
    return found


def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))
