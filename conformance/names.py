"""Names that can be listed without importing torch: adapters, mutants and checks, read off the files."""

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import attnconf.adapters
from attnconf.spec import registry

NOT_ADAPTERS = {
    "__init__", "arrays", "binding", "compiling", "contract", "functional", "handing", "hugging_face", "jax_bridge",
    "layered", "layout", "wiring",
}  # fmt: skip

HOW_TO_NAME = (
    "what to judge: a bare name, looked for in adapters/, then as a .py file or notebook in the working directory "
    "(where both exist, the adapter is taken), then as an entry point and as a module; or a path to a .py file or "
    "notebook; or a dotted module. Optionally with :variant of an adapter or :ClassOrFunction of what is none, and "
    "with @component. May be given several times"
)  # of --impl


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
        for node in ast.parse(_told(_mutant_source(chapter))).body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _named(node.value, "Mutant"):
                mutant = _mutant_text(node.value, chapter)
                found[mutant.id] = mutant
    return found


def _mutant_source(chapter: str) -> str:
    return (Path(__file__).parent / "mutants" / f"{chapter}.py").read_text(encoding="utf-8")


def _told(source: str) -> str:
    """Return a module of mutants, each on its own lines, without all that is long to parse and not told of them."""
    kept = []
    inside = replaced = False
    for line in source.split("\n"):
        inside = inside or line.endswith(" = Mutant(")
        if line.startswith(")") or re.match(r"    \w+=", line):
            replaced = line.startswith("    replace=")
        kept.append(line if inside and not replaced else "")
        inside = inside and not line.startswith(")")
    return "\n".join(kept)


def replaced_functions(mutant: MutantText) -> list[tuple[str, str]]:
    """Return the functions of the reference that a mutant replaces, each as (chapter, name)."""
    lines = _mutant_source(mutant.chapter).split("\n")
    end = next(at for at in range(mutant.line, len(lines)) if lines[at].startswith(")"))
    call = ast.parse("\n".join(lines[mutant.line - 1 : end + 1]))
    given = [k.value for n in ast.walk(call) if isinstance(n, ast.Call) for k in n.keywords if k.arg == "replace"]
    known = _referred(lines)
    named = [ast.unparse(key).partition(".") for d in given if isinstance(d, ast.Dict) for key in d.keys if key]
    return [(known[first][0], known[first][1] or last) for first, _, last in named if first in known]


def _referred(lines: list[str]) -> dict[str, tuple[str, str]]:
    """Return what a module's names of the reference stand for: (chapter, ""), or (chapter, function)."""
    imports = ast.parse("\n".join(line for line in lines if line.startswith("from attnconf.reference")))
    found = {}
    for node in imports.body:
        chapter = str(getattr(node, "module", "")).removeprefix("attnconf.reference").lstrip(".")
        for alias in getattr(node, "names", ()):
            found[alias.asname or alias.name] = (chapter, alias.name) if chapter else (alias.name, "")
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
    return {name: _first_line(folder / f"{name}.py") for name in adapter_names()}


def _first_line(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        return file.readline().strip().strip('"')


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
    for node in parsed(Path(__file__).parent / f"{chapter}.py").body:
        for mark in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
            if isinstance(node, ast.FunctionDef) and isinstance(mark, ast.Call) and _named(mark, "requirement"):
                found[ast.literal_eval(mark.args[0])] = CheckText(node.name, chapter, node.lineno)
    return found


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))
