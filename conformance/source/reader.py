"""Read a .py file, a notebook or a module into a module object.

A file is run whole if its top level has only imports, definitions and constants, or if it is an adapter.
Of any other file ``statements.chosen`` picks the statements to run, so that no training, plotting or endless loop
starts; files that are run whole, and imported modules, have no such guard. Output is kept and not shown, standard
input is empty, and the settings of the process are restored after the run.
"""

import ast
import builtins
import contextlib
import importlib
import importlib.machinery
import inspect
import io
import itertools
import linecache
import os
import sys
import tokenize
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType

import torch

from attnconf.conformance.source import notebook, statements
from attnconf.conformance.source.exception_words import deed
from attnconf.conformance.source.statements import Statement

_SHOWN = 20_000  # characters of what is printed


class NotThere(Exception):
    """The file does not exist or cannot be read."""


class NotLoaded(Exception):
    """The file exists, but no module can be made of it; the message says why, in one line."""


@dataclass(frozen=True)
class Source:
    """A file, notebook or module that was read: its module object, and how the reading went."""

    module: ModuleType
    path: Path | None = None  # none where the module has no Python text
    text: str = ""  # the Python that was run; of a notebook its code cells, one after the other
    printed: str = ""  # output and warnings of the run
    partial: bool = False  # only imports, definitions and their needs were run
    left_out: tuple[str, ...] = ()  # the statements that were not run: "line 12, `train(model)`"
    absent: Mapping[str, str] = field(default_factory=dict)  # names that have no value, and why
    lost: tuple[str, ...] = ()  # the part of ``lost`` to report: layers, and definitions that failed
    cells: notebook.Cells | None = None
    kept: str = ""  # the key of the text in source_text, for a module without a file

    def place(self, line: int) -> str:
        """Return the place of a line of the text in the file: "line 12", "cell 3, line 2"."""
        return self.cells.place(line) if self.cells else f"line {line}"

    def names(self) -> list[str]:
        """Return the classes and functions that the file itself defines, in its order."""
        defined = {n: v for n, v in vars(self.module).items() if inspect.isclass(v) or inspect.isroutine(v)}
        return [name for name, value in defined.items() if value.__module__ == self.module.__name__]

    @property
    def called(self) -> str:
        """The key of the text in source_text: the path, where there is one."""
        return str(self.path or self.kept or self.module.__name__)

    def untried(self) -> str:
        """Return words on the statements that were not run, to be put behind a reason; "" if all were run."""
        return _not_run(self.left_out)


_read: dict[str, Source] = {}  # by the name of the file in tracebacks
_siblings: dict[str, Path] = {}  # modules that a file imported from its own folder, and that folder
_folders: set[str] = set()  # that were added to sys.path
_adopted: set[str] = set()  # cells of a notebook that is open, by their names in tracebacks


def was_read(filename: str) -> bool:
    """Return whether a traceback's file name is that of a file read here, or of a cell that is judged."""
    return filename in _read or filename in _adopted


def adopt(filename: str) -> None:
    """Treat a cell of the open notebook like a file read here, so that tracebacks name its lines."""
    _adopted.add(filename)


def text(filename: str) -> str:
    """Return the Python of a file as it was read; of a notebook its code cells, one after the other."""
    return _read[filename].text


def where(filename: str, line: int) -> str:
    """Return the place of a line in any file, in words: "homework.py:12"."""
    cells = _read[filename].cells if filename in _read else None
    prompt = notebook.prompt_of(filename) if filename in _adopted else None
    if prompt is not None:
        return f"In [{prompt}], line {line}"
    return f"{Path(filename).name}:{line}" if cells is None else f"{Path(filename).name}, {cells.place(line)}"


def read(path: Path, wanted: Sequence[str] = ()) -> Source:
    """Return the module of a .py file or a notebook. Raises NotThere or NotLoaded.

    ``wanted``: names at the top level whose definitions are run in any case.
    """
    raw = _bytes(path)
    filename = str(path.absolute())
    text, cells = _text(path, raw)
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    tree = _parsed(text, filename, cells)
    module = _new_module(f"_{path.stem}" if _in_package(path.absolute()) else path.stem, filename)
    outline = statements.statements(tree)
    work = statements.has_work(outline, notebook=cells is not None) or (cells is not None and bool(cells.broken))
    adapter = statements.is_adapter(tree)
    whole = adapter or (cells is None and not work)
    if cells:
        vars(module)["display"] = lambda *shown, **options: None  # a notebook has it
    run = _Run(module, outline, filename, cells)
    with quiet(path) as printed, _importable(path.absolute(), tree, module):
        sys.modules[module.__name__] = module
        try:
            if adapter:
                run.everything(tree)
            elif whole:
                run.whole(tree, wanted)
            else:
                run.some(wanted)
                run.remove_unusable()
        except BaseException:
            sys.modules.pop(module.__name__, None)
            raise
    source = Source(
        module,
        path.absolute(),
        text,
        printed(),
        work and not adapter,
        tuple(run.left_out),
        run.absent,
        run.lost(),
        cells,
    )
    _read[filename] = source
    return source


def read_module(dotted: str) -> Source:
    """Return an importable module. Raises whatever the import raises."""
    with quiet() as printed:
        module = importlib.import_module(dotted)
    return replace(of_module(module), printed=printed())


def of_module(module: ModuleType) -> Source:
    """Return the Source of a module object that exists already, with its text if the module has a file."""
    file = getattr(module, "__file__", None)
    path = Path(file) if isinstance(file, str) and file.endswith(".py") and Path(file).is_file() else None
    text = path.read_text(encoding="utf-8", errors="replace") if path else ""
    return Source(module, path, text)


# -- the text


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise NotThere(f"cannot read {str(path)!r}: {error.strerror or error}") from None


def _text(path: Path, raw: bytes) -> tuple[str, notebook.Cells | None]:
    if path.suffix == ".ipynb":
        try:
            cells = notebook.cells_of(raw)
        except notebook.BadNotebook as error:
            raise NotLoaded(str(error)) from None
        except SyntaxError as error:
            raise NotLoaded(f"{error.args[0]}: {type(error).__name__}: {error.msg}") from None
        return cells.text, cells
    return _decoded(raw), None


def _decoded(raw: bytes) -> str:
    if not raw.strip():
        raise NotLoaded("the file is empty")
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise NotLoaded("its encoding is UTF-16, want UTF-8")
    if b"\0" in raw:
        line = raw[: raw.index(b"\0")].count(b"\n") + 1
        raise NotLoaded(f"line {line}: it holds a null byte, so it is no Python text")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
    except SyntaxError as error:
        encoding, problem = "utf-8", str(error.msg)
    else:
        problem = ""
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        wrong = f"the byte 0x{raw[error.start]:02x} is not {encoding.upper()}"
        raise NotLoaded(f"line {line}: {wrong}; save the file as UTF-8") from None
    if problem:
        raise NotLoaded(f"line 1: SyntaxError: {problem}")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _parsed(text: str, filename: str, cells: notebook.Cells | None) -> ast.Module:
    try:
        with warnings.catch_warnings(action="ignore"):  # of "\d" and of "is 1"
            tree = ast.parse(text, filename)
            compile(tree, filename, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if cells else 0, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 1
        at = cells.place(line) if cells else f"line {line}"
        raise NotLoaded(f"{at}: {type(error).__name__}: {getattr(error, 'msg', None) or error}") from None
    return tree


# -- running it


@dataclass
class _Run:
    """One run of a file's statements, with a list of the statements left out."""

    module: ModuleType
    outline: list[Statement]
    filename: str
    cells: notebook.Cells | None
    left_out: list[str] = field(default_factory=list)
    absent: dict[str, str] = field(default_factory=dict)  # names without a value, and why
    lacking: dict[str, str] = field(default_factory=dict)  # the part of ``absent`` whose import failed
    unusable: dict[str, str] = field(default_factory=dict)  # definitions that cannot work, and why
    failed: set[str] = field(default_factory=set)  # the definitions that raised

    def everything(self, tree: ast.Module) -> None:
        try:
            exec(compile(tree, self.filename, "exec", dont_inherit=True), vars(self.module))
        except KeyboardInterrupt:  # the user's
            raise
        except BaseException as error:
            raise NotLoaded(f"importing it {self._said(error)}") from error

    def whole(self, tree: ast.Module, wanted: Sequence[str]) -> None:
        """Run everything; if an import fails, run the definitions that do not use the missing package.

        Raises NotLoaded if no definition is left.
        """
        before = dict(vars(self.module))
        try:
            self.everything(tree)
        except NotLoaded as error:
            if not isinstance(error.__cause__, ImportError):
                raise
            vars(self.module).clear()
            vars(self.module).update(before)
            self.some(wanted)
            self.remove_unusable()
            if not self._defines():
                raise

    def _defines(self) -> bool:
        """Return whether any class or function of the file was defined."""
        return any(s.name in vars(self.module) for s in self.outline if s.kind == "definition" and s.name)

    def some(self, wanted: Sequence[str]) -> None:
        """Run the definitions and their needs, and note the statements that were not run."""
        run = statements.chosen(self.outline, wanted)
        future = self._future()
        for place, why in self.cells.broken if self.cells else ():
            self.left_out.append(f"{place}: {why}")
        for i, statement in enumerate(self.outline):
            if i not in run:
                self._skip(statement)
                continue
            code = compile(ast.Module([statement.node], []), self.filename, "exec", future, dont_inherit=True)
            try:
                exec(code, vars(self.module))
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                self._failed(statement, error)
            else:
                for known in (self.absent, self.lacking, self.unusable):
                    for name in statement.binds:
                        known.pop(name, None)

    def remove_unusable(self) -> None:
        """Remove the definitions that use a name without a value. Raises NotLoaded if no definition is left."""
        last = {s.name: s for s in self.outline if s.kind == "definition" and s.name and not s.drives}
        bound = {name for s in self.outline for name in s.binds} | set(vars(builtins))
        while True:
            before = len(self.unusable)
            for name, s in last.items():
                lost = [n for n in sorted(s.reads) if n in self.lacking or n in self.unusable]
                lost += ["*"] if "*" in self.lacking and s.reads - bound - set(vars(self.module)) else []
                if name not in self.unusable and lost:
                    why = self.lacking.get(lost[0])
                    needs = f"{why}; {name} ({self._at(s.node.lineno)}) needs it"
                    self.unusable[name] = needs if why else self.unusable[lost[0]]
            if len(self.unusable) == before:
                break
        ordered = [name for name in last if name in self.unusable]
        if ordered and len(ordered) == len(last):
            raise NotLoaded(self.unusable[ordered[0]])
        for name in ordered:
            vars(self.module).pop(name, None)
            self.absent[name] = self.unusable[name]

    def lost(self) -> tuple[str, ...]:
        """Return the lost definitions to report, even if others can be judged."""
        names = {s.name: s.is_layer for s in self.outline if s.name is not None and s.name in self.unusable}
        return tuple(name for name, layer in names.items() if layer or name in self.failed)

    def _future(self) -> int:
        """Return the compiler flags that the file's ``from __future__ import …`` asks for."""
        import __future__

        nodes = [s.node for s in self.outline if isinstance(s.node, ast.ImportFrom) and s.node.module == "__future__"]
        flags = [getattr(__future__, alias.name).compiler_flag for node in nodes for alias in node.names]
        return sum(set(flags))

    def _skip(self, statement: Statement) -> None:
        if statement.kind == "guard":
            return
        what = f"{self._place(statement)}, `{statement.words}`"
        self.left_out.append(what)
        for name in statement.binds - set(vars(self.module)):
            self.absent[name] = f"{what}, was not run: of this file only definitions and what they need are"

    def _failed(self, statement: Statement, error: BaseException) -> None:
        """Note a statement that failed, and the names that have no value without it."""
        what = f"{self._place(statement)}, `{statement.words}`"
        said = self._said(error, statement.node.lineno)
        for name in statement.binds - set(vars(self.module)):
            self.absent[name] = f"{what}, {said}"
            if isinstance(error, ImportError):
                self.lacking[name] = f"{what}, {said}"
        if statement.kind == "definition" and statement.name and not statement.drives:
            why = f"reading its definitions, {what}, {said}{self._explained(error) or _not_run(self.left_out)}"
            starred = "*" in self.lacking and isinstance(error, NameError)
            if not starred and not statement.reads & set(self.lacking):  # a missing import is the better reason
                self.unusable[statement.name] = why
                self.failed.add(statement.name)
        self.left_out.append(f"{what}, which {said}")

    def _explained(self, error: BaseException) -> str:
        why = self.absent.get(error.name) if isinstance(error, NameError) and error.name else None
        return f"; {why}" if why else ""

    def _place(self, statement: Statement) -> str:
        return self._at(statement.node.lineno)

    def _at(self, line: int) -> str:
        return self.cells.place(line) if self.cells else f"line {line}"

    def _said(self, error: BaseException, at: int | None = None) -> str:
        """Return words on how a statement failed, with the line unless it is ``at``."""
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == self.filename]
        place = f" ({self._at(lines[-1])})" if lines and lines[-1] and lines[-1] != at else ""
        return f"{deed(error)}{place}"


def _not_run(left_out: Sequence[str]) -> str:
    if not left_out:
        return ""
    return f" (not run: {'; '.join(left_out[:3])}{f' and {len(left_out) - 3} more' if len(left_out) > 3 else ''})"


def _new_module(stem: str, filename: str) -> ModuleType:
    module = ModuleType(_free_name(stem))
    module.__file__ = filename
    module.__spec__ = importlib.machinery.ModuleSpec(module.__name__, None, origin=filename)
    return module


def _free_name(stem: str) -> str:
    """Return a module name that is not in sys.modules yet: dataclasses look their module up there."""
    taken = stem in sys.modules or stem in sys.stdlib_module_names or not stem.isidentifier()
    return f"{stem}_{len(sys.modules)}" if taken else stem


# -- the modules around a file


@contextlib.contextmanager
def _importable(path: Path, tree: ast.Module, module: ModuleType) -> Iterator[None]:
    """Let a file import the modules in its own folder, and not those of the file that was read before."""
    folder, before = path.parent, list(sys.path)
    for name in [name for name, other in _siblings.items() if other != folder]:
        sys.modules.pop(name, None)
        _siblings.pop(name)
    known = set(sys.modules)
    above = _above(folder)
    own = [*above, str(folder)] if _in_package(path) else [str(folder)]
    sys.path[:] = [*own, *(p for p in before if p not in _folders), *above]
    importlib.invalidate_caches()
    try:
        _give_package(folder, tree, module)
        yield
    finally:
        sys.path[:] = before
        if str(folder) not in before:  # for what it imports when it is called
            sys.path.append(str(folder))
            _folders.add(str(folder))
        roots = {folder, *(Path(root) for root in above)}
        for name in set(sys.modules) - known:
            file = str(getattr(sys.modules[name], "__file__", None))
            installed = name.partition(".")[0] == "attnconf" or "site-packages" in file
            if not installed and roots & set(Path(file).parents):
                _siblings[name] = folder


def _in_package(path: Path) -> bool:
    """Return whether a file lies in a package of its own name: ``import name`` in it then means the package."""
    return path.stem == path.parent.name and (path.parent / "__init__.py").exists()


def _above(folder: Path) -> list[str]:
    """Return the folders a file may import from: those above it up to the project's root, else above its packages."""
    found: list[str] = []
    for above in (folder, *folder.parents):
        found.append(str(above))
        if any((above / mark).exists() for mark in (".git", "pyproject.toml", "setup.py", "requirements.txt")):
            return found[1:]
    packages = _packages(folder)
    return [str(packages[-1].parent)] if packages else []


def _packages(folder: Path) -> list[Path]:
    """Return a folder and its parents, as far up as they are packages."""
    return list(itertools.takewhile(lambda above: (above / "__init__.py").exists(), (folder, *folder.parents)))


def _give_package(folder: Path, tree: ast.Module, module: ModuleType) -> None:
    """Let relative imports find the modules around a file, also where importing the file's package fails."""
    depth = max((n.level for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)), default=0)
    if not depth:
        return
    packages = _packages(folder)
    if len(packages) >= depth:
        name = ".".join(above.name for above in reversed(packages))
        with contextlib.suppress(Exception, SystemExit):
            if str(folder) in list(importlib.import_module(name).__path__):
                module.__package__ = name
                return
    name = ""
    for above in reversed((folder, *folder.parents)[:depth]):
        name = f"{name}.{above.name}" if name else f"{_free_name('package')}_{above.name}"
        package = ModuleType(name)
        package.__path__ = [str(above)]
        sys.modules[name] = package
    module.__package__ = name


class _Kept(io.TextIOWrapper):
    """A standard output that keeps all that is written, even after the file closes or detaches it."""

    def close(self) -> None:
        pass

    def reconfigure(self, **options: object) -> None:
        pass


class _Nothing(io.StringIO):
    """A standard input without anybody to ask: ``input()`` raises RuntimeError at once."""

    def readline(self, size: int | None = -1, /) -> str:  # type: ignore[override]  # text, as its siblings
        raise RuntimeError("it reads from standard input, and there is nobody to ask")

    def read(self, size: int | None = -1, /) -> str:
        return self.readline()

    def __next__(self) -> str:  # type: ignore[override]
        return self.readline()


@contextlib.contextmanager
def quiet(path: Path = Path()) -> Iterator["_Printed"]:
    """Catch all output, and restore the settings of the process afterwards."""
    raw = io.BytesIO()
    out = _Kept(raw, encoding="utf-8", errors="backslashreplace", write_through=True)
    printed = _Printed(raw)
    arguments, stdin, folder, backend = sys.argv, sys.stdin, os.getcwd(), os.environ.get("MPLBACKEND")
    default, grad = torch.get_default_dtype(), torch.is_grad_enabled()
    sys.argv, sys.stdin = [str(path)], _Nothing()
    os.environ.setdefault("MPLBACKEND", "Agg")  # no windows
    try:
        with (
            warnings.catch_warnings(record=True, action="default") as printed.warned,
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(out),
        ):
            yield printed
    finally:
        sys.argv, sys.stdin = arguments, stdin
        os.chdir(folder)
        if backend is None:
            os.environ.pop("MPLBACKEND", None)
        torch.set_default_dtype(default)
        torch.set_grad_enabled(grad)


class _Printed:
    """The output and the warnings of a run."""

    def __init__(self, raw: io.BytesIO):
        self.raw = raw
        self.warned: list[warnings.WarningMessage] | None = None

    def __call__(self) -> str:
        said = [f"{w.category.__name__}: {w.message}\n" for w in self.warned or ()]
        return (self.raw.getvalue().decode("utf-8", "replace") + "".join(said))[:_SHOWN]
