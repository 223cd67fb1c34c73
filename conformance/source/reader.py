"""Read a .py file, a notebook or a module into a module object.

A file is run whole if its top level has only imports, definitions and constants, or if it is an adapter.
Of any other file ``statements.chosen`` picks the statements to run, so that no training, plotting or endless loop
starts; files that are run whole, and imported modules, have no such guard. Of a module beside the file that raises when
it is imported, what does not need what failed is kept (source.around). Output is kept and not shown, standard input is
empty, and the settings of the process are restored after the run.
"""

import importlib
import inspect
import linecache
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType

from attnconf.conformance.source import notebook, statements
from attnconf.conformance.source.file_run import FileRun, not_run
from attnconf.conformance.source.file_text import parsed, python_of, raw_bytes
from attnconf.conformance.source.neighbours import hides, importable, new_module
from attnconf.conformance.source.quiet import quiet


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
        return not_run(self.left_out)


_read: dict[str, Source] = {}  # by the name of the file in tracebacks
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
    """Return the module of a .py file, a notebook or a file of ONNX. Raises NotThere or NotLoaded.

    ``wanted``: names at the top level whose definitions are run in any case.
    """
    if path.suffix == ".onnx":
        return _graph(path)
    raw = raw_bytes(path)
    filename = str(path.absolute())
    text, cells = python_of(path, raw)
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    tree = parsed(text, filename, cells)
    module = new_module(f"_{path.stem}" if path.stem in hides(path.absolute(), tree) else path.stem, filename)
    outline = statements.statements(tree)
    work = statements.has_work(outline, notebook=cells is not None) or (cells is not None and bool(cells.broken))
    adapter = statements.is_adapter(tree)
    whole = adapter or (cells is None and not work)
    if cells:
        vars(module)["display"] = lambda *shown, **options: None  # a notebook has it
    run = FileRun(module, outline, filename, cells)
    with quiet(path) as printed, importable(path.absolute(), tree, module, adapter):
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


def _graph(path: Path) -> Source:
    """Return the module of a file of ONNX. Raises NotThere or NotLoaded."""
    from attnconf.conformance.source.onnx_files.adapter import module_of  # torch

    with quiet(path) as printed:
        module = module_of(path)
    return Source(module, path.absolute(), printed=printed())


def keep_text(path: Path) -> None:
    """Keep the Python of a file or notebook for ``text`` and ``where``; nothing of it is run.

    Raises NotThere or NotLoaded.
    """
    filename = str(path.absolute())
    if filename not in _read:
        text, cells = python_of(path, raw_bytes(path))
        _read[filename] = Source(ModuleType(path.stem), path.absolute(), text, cells=cells)


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
