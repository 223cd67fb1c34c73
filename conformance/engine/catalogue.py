"""Adapters, mutants, checks and functions of the reference, read off the files without importing torch."""

import ast
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import attnconf.adapters
import attnconf.reference
from attnconf.conformance.source.syntax import tree_of
from attnconf.spec import registry

NOT_ADAPTERS = ("__init__", "contract")
CHAPTERS = Path(__file__).parents[1] / "chapters"

HOW_TO_NAME = (
    "what to judge: a bare name, looked for in adapters/, then as a .py file, notebook or .onnx file in the working "
    "directory (where both exist, the adapter is taken), then as an entry point and as a module; or a path to a .py "
    "file, a notebook or an .onnx file with one operator; or a dotted module. Optionally with :variant of an adapter "
    "or :ClassOrFunction (:Class.method) of what is none, and with @component. May be given several times"
)  # of --impl
RIGHTS = (
    "what is judged runs with your rights; without --isolate it can do anything to its own verdict, and with it a file "
    "without an adapter can forge how and as what it is judged, as it is bound beside the reference"
)
ISOLATE = (
    "call what is judged in a child process, into which no reference, check or bound is loaded; how a file without an "
    "adapter is called is found in another; either is killed where it does not answer"
)
ENDED_EARLY = "the run ended before its verdicts were written"
CALL_SECONDS = "with --isolate, how long one call may take before its process is killed (default: 60)"


@cache
def adapter_names() -> tuple[str, ...]:
    """Return the names of the shipped adapters."""
    files = Path(str(attnconf.adapters.__file__)).parent.glob("*.py")
    return tuple(sorted(path.stem for path in files if path.stem not in NOT_ADAPTERS))


@dataclass(frozen=True)
class MutantText:
    """A mutant's id, story, hint, source and broken requirements, and where it stands."""

    id: str
    chapter: str
    story: str
    breaks: tuple[str, ...]
    hint: str
    source: str
    module: str  # "mutants/heads": a file of the chapter's folder
    line: int

    @property
    def file(self) -> Path:
        return folder(self.chapter) / f"{self.module}.py"


def folder(chapter: str) -> Path:
    """Return the folder with a chapter's checks and mutants."""
    return registry.page(chapter).parent if registry.of_course(chapter) else CHAPTERS / chapter


@cache
def modules(chapter: str, room: str) -> tuple[str, ...]:
    """Return a chapter's modules of checks or mutants, as paths in its folder.

    These are ("mutants",), say, or, by section, ("mutants/sizes", "mutants/heads", …) in the order that the folder
    states as SECTIONS.
    """
    place = folder(chapter) / room
    if not place.is_dir():
        return (room,)
    (sections,) = (node.value for node in parsed(place / "__init__.py").body if isinstance(node, ast.Assign))
    return tuple(f"{room}/{name}" for name in ast.literal_eval(sections))


@cache
def mutant_texts() -> dict[str, MutantText]:
    """Return the mutants of all chapters by id, in the order of their modules."""
    found = {}
    for chapter in registry.CHAPTERS.values():
        for module in modules(chapter, "mutants"):
            source = (folder(chapter) / f"{module}.py").read_text(encoding="utf-8")
            for node in tree_of(source if registry.of_course(chapter) else _told(source)).body:
                if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _named(node.value, "Mutant"):
                    mutant = _mutant_text(node.value, chapter, module)
                    found[mutant.id] = mutant
    return found


def _told(source: str) -> str:
    """Return the source of a module of mutants with all but their short fields blanked; line numbers stay."""
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
    lines = mutant.file.read_text(encoding="utf-8").split("\n")
    end = next(at for at in range(mutant.line, len(lines)) if lines[at].startswith(")"))
    call = tree_of("\n".join(lines[mutant.line - 1 : end + 1]))
    given = [k.value for n in ast.walk(call) if isinstance(n, ast.Call) for k in n.keywords if k.arg == "replace"]
    known = _referred(lines)
    named = [ast.unparse(key).partition(".") for d in given if isinstance(d, ast.Dict) for key in d.keys if key]
    return [(known[first][0], known[first][1] or last) for first, _, last in named if first in known]


def _referred(lines: list[str]) -> dict[str, tuple[str, str]]:
    """Return each name that a module imports from the reference, with its (chapter, "") or (chapter, function)."""
    imports = tree_of("\n".join(line for line in lines if line.startswith("from attnconf.reference")))
    found = {}
    for node in imports.body:
        chapter = str(getattr(node, "module", "")).removeprefix("attnconf.reference").lstrip(".")
        for alias in getattr(node, "names", ()):
            found[alias.asname or alias.name] = (chapter, alias.name) if chapter else (alias.name, "")
    return found


def _mutant_text(call: ast.Call, chapter: str, module: str) -> MutantText:
    given = {k.arg: k.value for k in call.keywords}
    breaks = sorted(str(n.value) for n in ast.walk(given["breaks"]) if isinstance(n, ast.Constant))
    words = {key: ast.literal_eval(given[key]) if key in given else "" for key in ("story", "hint", "source")}
    name, line = ast.literal_eval(call.args[0]), call.lineno
    return MutantText(name, chapter, breaks=tuple(breaks), module=module, line=line, **words)


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
    """The place of a requirement's check: its function, file and line."""

    function: str
    chapter: str
    module: str  # "checks/heads": a file of the chapter's folder
    line: int
    families: tuple[str, ...] = ()  # of cases, as the mark names them: "READABLE"
    span: tuple[int, int] = (0, 0)  # first and last line, with its marks

    @property
    def source(self) -> str:
        lines = (folder(self.chapter) / f"{self.module}.py").read_text(encoding="utf-8").split("\n")
        return "\n".join(lines[self.span[0] - 1 : self.span[1]])


@cache
def check_texts(chapter: str) -> dict[str, CheckText]:
    """Return a chapter's checks by requirement: the functions marked ``@requirement("…")``."""
    return {
        ast.literal_eval(mark.args[0]): _check_text(node, mark, chapter, module)
        for module in modules(chapter, "checks")
        for node in parsed(folder(chapter) / f"{module}.py").body
        if isinstance(node, ast.FunctionDef)
        for mark in node.decorator_list
        if isinstance(mark, ast.Call) and _named(mark, "requirement")
    }


def _check_text(node: ast.FunctionDef, mark: ast.Call, chapter: str, module: str) -> CheckText:
    families = tuple(map(ast.unparse, mark.args[1:]))
    span = (node.decorator_list[0].lineno, node.end_lineno or node.lineno)
    return CheckText(node.name, chapter, module, node.lineno, families, span)


def parsed(path: Path) -> ast.Module:
    return tree_of(path.read_text(encoding="utf-8"))


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
    """Return the functions of a chapter's reference by name; {} for a chapter without one."""
    if not registry.has_reference(chapter):
        return {}
    text = (Path(str(attnconf.reference.__file__)).parent / f"{chapter}.py").read_text(encoding="utf-8")
    nodes = [node for node in tree_of(text).body if isinstance(node, ast.FunctionDef)]
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

    These are the functions with the requirement's id in their docstrings; else the functions that its mutants replace
    most often; else the function marked "the whole chapter".
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


def reference_of(component: str) -> list[FunctionText]:
    """Return the function of the reference that computes a component; none where it has another name."""
    every = (reference_texts(chapter).get(component) for chapter in registry.CHAPTERS.values())
    return [f for f in every if f is not None][:1]
