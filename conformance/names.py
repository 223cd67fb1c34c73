"""Names that can be listed without importing torch: adapters, mutants and checks, read off the files."""

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import attnconf.adapters
from attnconf.spec import registry

NOT_ADAPTERS = {"__init__", "contract", "binding"}


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
    """Return the mutants of all chapters by id, from the source of their modules."""
    found = {}
    for chapter in registry.CHAPTERS.values():
        path = Path(__file__).parent / "mutants" / f"{chapter}.py"
        for node in ast.walk(_parsed(path)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Mutant":
                given = {k.arg: k.value for k in node.keywords}
                values: dict[str, Any] = {
                    key: ast.literal_eval(given[key]) for key in ("story", "hint", "source") if key in given
                }
                values["breaks"] = [n.value for n in ast.walk(given["breaks"]) if isinstance(n, ast.Constant)]
                name = ast.literal_eval(node.args[0])
                found[name] = MutantText(
                    name, chapter, values["story"], tuple(sorted(values["breaks"])), values["hint"],
                    values.get("source", ""), node.lineno,
                )  # fmt: skip
    return dict(
        sorted(found.items(), key=lambda item: (list(registry.CHAPTERS.values()).index(item[1].chapter), item[1].line))
    )


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
def check_texts() -> dict[str, CheckText]:
    """Return the check of every requirement that has one: the functions marked ``@requirement("…")``."""
    found = {}
    for chapter in registry.CHAPTERS.values():
        for node in _parsed(Path(__file__).parent / f"{chapter}.py").body:
            if not isinstance(node, ast.FunctionDef):
                continue
            for mark in node.decorator_list:
                if isinstance(mark, ast.Call) and isinstance(mark.func, ast.Name) and mark.func.id == "requirement":
                    found[ast.literal_eval(mark.args[0])] = CheckText(node.name, chapter, node.lineno)
    return found


def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))
