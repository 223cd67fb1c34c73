"""A module object for a file, and the modules around the file that it may import."""

import ast
import contextlib
import importlib
import importlib.machinery
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

_siblings: dict[str, Path] = {}  # modules that a file imported from its own folder, and that folder
_folders: set[str] = set()  # that were added to sys.path


def new_module(stem: str, filename: str) -> ModuleType:
    """Return an empty module for a file, under a name that no other module has."""
    module = ModuleType(_free_name(stem))
    module.__file__ = filename
    module.__spec__ = importlib.machinery.ModuleSpec(module.__name__, None, origin=filename)
    return module


def _free_name(stem: str) -> str:
    """Return a module name that is not in sys.modules yet: dataclasses look their module up there."""
    taken = stem in sys.modules or stem in sys.stdlib_module_names or not stem.isidentifier()
    return f"{stem}_{len(sys.modules)}" if taken else stem


@contextlib.contextmanager
def importable(path: Path, tree: ast.Module, module: ModuleType) -> Iterator[None]:
    """Let a file import the modules in its own folder, and not those of the file that was read before."""
    folder, before = path.parent, list(sys.path)
    for name in [name for name, other in _siblings.items() if other != folder]:
        sys.modules.pop(name, None)
        _siblings.pop(name)
    known = set(sys.modules)
    above = _above(folder)
    own = [*above, str(folder)] if in_package(path) else [str(folder)]
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


def in_package(path: Path) -> bool:
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
