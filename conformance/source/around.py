"""The modules around a file, read as far as they can be: one line that fails takes away what needs it, and no more."""

import contextlib
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Iterator, Sequence, Set
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from attnconf.conformance.source import statements
from attnconf.conformance.source.file_run import FileRun
from attnconf.conformance.source.file_text import parsed, python_of, raw_bytes
from attnconf.conformance.source.not_loaded import NotLoaded


class AsFarAsItGoes(SourceFileLoader):
    """Runs a module whole; of one that raises so, what does not need what failed."""

    def exec_module(self, module: ModuleType) -> None:
        """Run a module. Raises what it raises where nothing of it is left."""
        before = dict(vars(module))
        try:
            super().exec_module(module)
        except (Exception, SystemExit) as error:
            vars(module).clear()
            vars(module).update(before)
            self._run_parts(module, error)

    def _run_parts(self, module: ModuleType, failed: BaseException) -> None:
        outline = self._outline()
        run = FileRun(module, outline, self.path, None)
        try:
            run.some([name for s in outline if s.kind == "assignment" for name in s.binds])
            run.remove_unusable()
        except NotLoaded:
            raise failed from None
        vars(module)["__getattr__"] = _without(module.__name__, run.absent)

    def _outline(self) -> list[statements.Statement]:
        """Return the statements of the module; none where it cannot be read, which Python then says."""
        path = Path(self.path)
        try:
            return statements.statements(parsed(python_of(path, raw_bytes(path))[0], self.path, None))
        except NotLoaded:
            return []


def _without(module: str, absent: dict[str, str]) -> Any:
    """Return the ``__getattr__`` of a module that has lost names: whoever imports one is told why it has no value."""

    def __getattr__(name: str) -> NoReturn:
        if name in absent:
            raise ImportError(f"{module} has no {name}: {absent[name]}")
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return __getattr__


class Around(importlib.abc.MetaPathFinder):
    """Finds the modules below some folders, and nothing that is installed there."""

    def __init__(self, roots: Set[Path]) -> None:
        self.roots = roots

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or type(spec.loader) is not SourceFileLoader or "site-packages" in str(spec.origin):
            return None
        if not self.roots & set(Path(spec.loader.path).parents):
            return None
        spec.loader = AsFarAsItGoes(spec.loader.name, spec.loader.path)
        return spec


@contextlib.contextmanager
def read_around(roots: Set[Path]) -> Iterator[None]:
    """Let what is imported from below the folders be read as far as it goes."""
    finder = Around(roots)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
