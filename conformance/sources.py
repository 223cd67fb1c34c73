"""Read what was handed in, a .py file, a notebook or an installed module, into a module."""

import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType


@dataclass(frozen=True)
class Source:
    """What was read: the module, and how it came about."""

    module: ModuleType
    path: Path | None = None  # none where the module has no Python text
    text: str = ""  # the Python that was run; of a notebook its code cells, one after the other
    printed: str = ""  # what it wrote while it was run, and its warnings
    partial: bool = False  # only imports, definitions and what these need were run
    left_out: tuple[str, ...] = ()  # the statements that were not run
    cells: tuple[tuple[int, int], ...] = ()  # of a notebook: (first line within the text, number) of each code cell

    def place(self, line: int) -> str:
        """Return where a line of the text stands in the file, in words."""
        before = [(first, number) for first, number in self.cells if first <= line]
        return f"cell {before[-1][1]}, line {line - before[-1][0] + 1}" if before else f"line {line}"


def read(path: Path) -> Source:
    """Return what a file holds."""
    spec = importlib.util.spec_from_file_location(path.stem, path.absolute())
    if spec is None or spec.loader is None:
        raise ImportError(f"no way to load {str(path)!r}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return Source(module, path, path.read_text(encoding="utf-8"))
