"""From the bytes of a file or notebook to its Python text and syntax tree."""

import ast
import io
import tokenize
import warnings
from pathlib import Path

from attnconf.conformance.source import notebook
from attnconf.conformance.source.not_loaded import NotLoaded, NotThere
from attnconf.conformance.source.syntax import tree_of


def raw_bytes(path: Path) -> bytes:
    """Return what a file holds. Raises NotThere."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise NotThere(f"cannot read {str(path)!r}: {error.strerror or error}") from None


def python_of(path: Path, raw: bytes) -> tuple[str, notebook.Cells | None]:
    """Return the Python of a file, and its cells if it is a notebook. Raises NotLoaded."""
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


def parsed(text: str, filename: str, cells: notebook.Cells | None) -> ast.Module:
    """Return the syntax tree of a text that compiles. Raises NotLoaded, with the line."""
    try:
        tree = tree_of(text, filename)
        with warnings.catch_warnings(action="ignore"):
            compile(tree, filename, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if cells else 0, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 1
        at = cells.place(line) if cells else f"line {line}"
        raise NotLoaded(f"{at}: {type(error).__name__}: {getattr(error, 'msg', None) or error}") from None
    return tree
