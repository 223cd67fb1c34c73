"""Lines and branches of the user's own file that no check executed: where a mistake can still hide.

Measured with coverage.py, and only during calls through ``boundary``. Installed packages and shipped adapters are left
out. A condition on one line with its consequences (``a if b else c``, ``b and c``) is not seen.
"""

import ast
import sys
import sysconfig
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attnconf.adapters import contract
from attnconf.conformance.source.syntax import tree_of

if TYPE_CHECKING:
    from coverage import Coverage

MISSING = "looking for blind spots needs coverage: pip install 'attention-conformance[coverage]'"
UNCALLED = {"__repr__", "__str__", "extra_repr"}  # methods that print, never called by checks
TOLD = {"print", "warn", "warning", "error", "info", "debug"}  # calls that say something and compute nothing


@dataclass(frozen=True)
class Spot:
    """A piece of a file that was not executed.

    ``kind``: "code"; "branch", a condition that only ever went one way; "function", one that was never called;
    "error", a branch that only raises or reports, which right inputs rightly never reach.
    """

    file: str
    first: int
    last: int
    kind: str
    code: str


def available() -> bool:
    """Return whether coverage.py is installed."""
    return find_spec("coverage") is not None


class Recording:
    """A context in which the executed lines of some files are recorded, during calls through ``boundary``."""

    def __init__(self, sources: Sequence[str]):
        self._watched: dict[str, tuple[Coverage, list[Path]]] = {}
        for source in dict.fromkeys(sources):
            files = own_files(source)
            if files:
                self._watched[source] = (_coverage(files), files)

    def __enter__(self) -> None:
        global _current
        _current = self

    def __exit__(self, *error: object) -> None:
        global _current
        _current = None

    def coverage(self, source: str) -> "Coverage | None":
        return self._watched[source][0] if source in self._watched else None

    def spots(self, source: str) -> list[dict[str, Any]] | None:
        """Return the spots of a source as plain data in the order of the lines; None if the source is not watched."""
        if source not in self._watched:
            return None
        coverage, files = self._watched[source]
        return [asdict(spot) for file in files for spot in _spots(coverage, file)]


_current: Recording | None = None


@contextmanager
def looking(source: str) -> Iterator[None]:
    """Record the lines of an implementation's file during a call, if a Recording is active."""
    coverage = _current.coverage(source) if _current is not None else None
    if coverage is None:
        yield
        return
    before = sys.gettrace()  # a debugger's
    coverage.start()
    try:
        yield
    finally:
        coverage.stop()
        sys.settrace(before)


def own_files(source: str) -> list[Path]:
    """Return the user's own files behind an implementation: its file, and modules imported from the same folder."""
    path = Path(source)
    if path.suffix != ".py" or not path.is_file() or _installed(path):
        return []
    beside = [path.resolve()]
    for file in beside:
        imported = [path.resolve().parent / f"{name}.py" for name in _imported(file)]
        beside += [other for other in dict.fromkeys(imported) if other.is_file() and other not in beside]
    return beside


def _installed(path: Path) -> bool:
    ours = Path(str(contract.__file__)).resolve().parent
    library = Path(sysconfig.get_path("stdlib")).resolve()
    places = path.resolve().parents
    return ours in places or library in places or {"site-packages", "dist-packages"} & set(path.parts) != set()


def _imported(file: Path) -> Iterator[str]:
    for node in ast.walk(tree_of(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def _coverage(files: list[Path]) -> "Coverage":
    from coverage import Coverage

    return Coverage(data_file=None, branch=True, include=list(map(str, files)), config_file=False, messages=False)


def _spots(coverage: "Coverage", file: Path) -> list[Spot]:
    text = file.read_text(encoding="utf-8")
    with warnings.catch_warnings(action="ignore"):  # nothing of it was executed
        _, statements, _, missing, _ = coverage.analysis2(str(file))
        one_way = {line for line, (ways, taken) in coverage.branch_stats(str(file)).items() if 0 < taken < ways}
    lines = text.splitlines()
    found = Reading(file.name, lines, set(statements), set(missing), one_way).module(tree_of(text))
    return sorted(found, key=lambda spot: spot.first)


@dataclass(frozen=True)
class Reading:
    """A file with its executed lines, and the search for spots in it."""

    file: str
    lines: list[str]
    statements: set[int]
    missing: set[int]
    one_way: set[int]  # lines with a condition that went one way only

    def module(self, tree: ast.Module) -> Iterator[Spot]:
        """Yield the spots in functions and methods: all other lines ran when the file was loaded."""
        for node in tree.body:
            yield from self.definition(node)

    def definition(self, node: ast.stmt) -> Iterator[Spot]:
        if isinstance(node, ast.ClassDef):
            if any(map(self.called, node.body)):
                for inner in node.body:
                    yield from self.definition(inner)
            elif any(self.within(node)):
                yield self.spot(node, node, "function")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name not in UNCALLED:
            if self.called(node):
                yield from self.block(node.body)
            elif any(self.within(node)):
                refuses = self.tells(node.body) and any(isinstance(inner, ast.Raise) for inner in node.body)
                yield self.spot(node, node, "error" if refuses else "function")

    def called(self, node: ast.stmt) -> bool:
        return any(line not in self.missing for line in self.within(node))

    def within(self, node: ast.stmt) -> Iterator[int]:
        """Yield the lines of statements inside functions."""
        for function in ast.walk(node):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                inside = (s.lineno for top in function.body for s in ast.walk(top) if isinstance(s, ast.stmt))
                yield from (line for line in inside if line in self.statements)

    def block(self, body: list[ast.stmt]) -> Iterator[Spot]:
        """Yield the spots among statements whose first one was executed."""
        skipped: list[ast.stmt] = []
        for node in body:
            if node.lineno in self.missing:
                skipped.append(node)
                continue
            if isinstance(node, ast.If):
                yield from self.condition(node)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield from self.definition(node)
            else:
                yield from self.parts(node)
        if skipped:
            yield self.spot(skipped[0], skipped[-1], "error" if self.tells(skipped) else "code")

    def condition(self, node: ast.If) -> Iterator[Spot]:
        yield from self.arm(node, node.body)
        if node.orelse:
            yield from self.arm(node.orelse[0], node.orelse)
        elif node.lineno in self.one_way and self.ran(node.body):
            yield Spot(self.file, node.lineno, node.lineno, "branch", f"{self.head(node)} … is never false")

    def parts(self, node: ast.stmt) -> Iterator[Spot]:
        """Yield the spots in the parts of a for, while, with, try or match statement."""
        for handler in getattr(node, "handlers", ()):
            if self.ran(handler.body):
                yield from self.block(handler.body)
            else:
                yield self.spot(handler, handler, "error")
        for case in getattr(node, "cases", ()):
            yield from self.arm(case.pattern, case.body)
        for name in ("body", "orelse", "finalbody"):
            inner = getattr(node, name, [])
            if inner:
                yield from self.arm(node if name == "body" else inner[0], inner)

    def arm(self, head: ast.AST, body: list[ast.stmt]) -> Iterator[Spot]:
        """Yield the spots in one branch of a statement; one spot from its head on if nothing in it was executed."""
        if self.ran(body):
            yield from self.block(body)
        elif any(node.lineno in self.missing for node in body):
            tells = self.tells([*body[0].body, *body[0].orelse] if isinstance(body[0], ast.If) else body)
            yield self.spot(head, body[-1], "error" if tells else "code")

    def ran(self, body: list[ast.stmt]) -> bool:
        return any(node.lineno in self.statements - self.missing for node in body)

    def tells(self, body: list[ast.stmt]) -> bool:
        """Return whether statements do nothing but raise or report."""
        return all(
            isinstance(node, ast.Raise | ast.Pass | ast.Assert)
            or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
            or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _name(node.value.func) in TOLD)
            for node in body
        )

    def spot(self, first: Any, last: Any, kind: str) -> Spot:
        return Spot(self.file, first.lineno, last.end_lineno or last.lineno, kind, self.head(first))

    def head(self, node: Any) -> str:
        """Return the first line of a piece of code."""
        return self.lines[node.lineno - 1].strip()


def _name(function: ast.expr) -> str:
    return getattr(function, "attr", getattr(function, "id", ""))
