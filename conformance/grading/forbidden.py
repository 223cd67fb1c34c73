"""Which forbidden names a submission's text uses: advice for a person, which no score depends on.

It reads, and runs nothing. Who wants to can hide a name from it: ``getattr(nn, "Multihead" + "Attention")``; what the
first calls enter is noted where they are run (worker/tracing.py).
"""

import ast
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from attnconf.conformance.source.file_text import python_of, raw_bytes
from attnconf.conformance.source.not_loaded import NotLoaded, NotThere
from attnconf.conformance.source.notebook import Cells
from attnconf.conformance.source.syntax import tree_of

MOST_BYTES = 2_000_000  # of a file that is looked at; a person writes less
MOST_FILES = 500


def seen(path: Path, names: Sequence[str]) -> list[str]:
    """Return a line for each forbidden name in a file, a notebook or a folder of them, with its first place.

    "names torch.nn.MultiheadAttention (hw.py:12)". Files that cannot be read have none.
    """
    lines: list[str] = []
    for file in _files(path):
        text = _text(file)
        if text is None:
            continue
        first: dict[str, int] = {}
        for dotted, line in sorted(_named(text[0]), key=lambda one: one[1]):
            for name in names:
                if _is(dotted, name):
                    first.setdefault(name, line)
        lines += [f"names {name} ({_place(file, text[1], line)})" for name, line in first.items()]
    return lines


def _files(path: Path) -> list[Path]:
    """Return the ordinary files of Python in a folder, or the path itself; links lead out of it."""
    try:
        files = sorted(p for p in path.rglob("*") if p.suffix in (".py", ".ipynb")) if path.is_dir() else [path]
        return [file for file in files[:MOST_FILES] if _is_ordinary(file)]
    except (OSError, ValueError):
        return []


def _is_ordinary(path: Path) -> bool:
    found = path.lstat()
    return stat.S_ISREG(found.st_mode) and found.st_size <= MOST_BYTES


def _text(file: Path) -> tuple[ast.Module, Cells | None] | None:
    try:
        text, cells = python_of(file, raw_bytes(file))
        return tree_of(text), cells
    except (NotThere, NotLoaded, SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _place(file: Path, cells: Cells | None, line: int) -> str:
    return f"{file.name}, {cells.place(line)}" if cells else f"{file.name}:{line}"


def _is(dotted: str, name: str) -> bool:
    """Return whether a name is the forbidden one, something in it, or the same out of another module of that package.

    torch.nn.MultiheadAttention is torch.nn.modules.activation.MultiheadAttention, too.
    """
    own, other = dotted.split("."), name.split(".")
    return own[: len(other)] == other or (len(other) > 2 and (own[0], own[-1]) == (other[0], other[-1]))


def _named(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield each name that the text uses or imports, as it is called where it is defined, with its line."""
    nodes = list(ast.walk(tree))
    known, starred = _aliases(nodes)
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)
        elif isinstance(node, ast.Name | ast.Attribute | ast.Call):
            own = _chain(node)
            if own and own[0] in known:
                yield ".".join((known[own[0]], *own[1:])), node.lineno
            elif own:
                yield from ((".".join((module, *own)), node.lineno) for module in starred)


def _aliases(nodes: Sequence[ast.AST]) -> tuple[dict[str, str], list[str]]:
    """Return what the text's names stand for, {"nn": "torch.nn"}, and the modules of which it imports all."""
    known: dict[str, str] = {}
    starred = []
    for node in nodes:
        if isinstance(node, ast.Import):
            known |= {a.asname or a.name.partition(".")[0]: a.name if a.asname else a.name.partition(".")[0]
                      for a in node.names}  # fmt: skip
        elif isinstance(node, ast.ImportFrom) and node.module:
            known |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
            starred += [node.module for alias in node.names if alias.name == "*"]
    for node in nodes:  # N = torch.nn
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name | ast.Attribute | ast.Call):
            own = _chain(node.value)
            if own and own[0] in known:
                meant = ".".join((known[own[0]], *own[1:]))
                known |= {t.id: meant for t in node.targets if isinstance(t, ast.Name) and t.id not in known}
    return known, starred


def _chain(node: ast.AST) -> tuple[str, ...]:
    """Return ("nn", "Linear") of nn.Linear, and of getattr(nn, "Linear"); () of what is no chain of names."""
    parts: list[str] = []
    while True:
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        elif (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr"
            and len(node.args) > 1 and isinstance(node.args[1], ast.Constant) and isinstance(node.args[1].value, str)
        ):  # fmt: skip
            parts.append(node.args[1].value)
            node = node.args[0]
        else:
            return (node.id, *reversed(parts)) if isinstance(node, ast.Name) else ()
