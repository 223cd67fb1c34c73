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

from attnconf.conformance.source.around import read_around

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
def importable(path: Path, tree: ast.Module, module: ModuleType, adapter: bool) -> Iterator[None]:
    """Let a file import the modules in its own folder, and not those of the file that was read before.

    They are read as far as they go, but for those of an ``adapter``.
    """
    folder, before = path.parent, list(sys.path)
    for name in [name for name, other in _siblings.items() if other != folder]:
        sys.modules.pop(name, None)
        _siblings.pop(name)
    known = set(sys.modules)
    above = above_it(folder)
    hidden = hides(path, tree)
    own = [*above, str(folder)] if hidden else [str(folder)]
    sys.path[:] = [*own, *(p for p in before if p not in _folders), *above]
    importlib.invalidate_caches()
    roots = {folder, *(Path(root) for root in above)}
    try:
        with contextlib.nullcontext() if adapter else read_around(roots):
            for name, place in hidden.items():
                if name not in sys.modules and not (place / "__init__.py").exists():
                    sys.modules[name] = _package(name, place)
            _give_package(folder, tree, module)
            yield
    finally:
        sys.path[:] = before
        if str(folder) not in before:  # for what it imports when it is called
            sys.path.append(str(folder))
            _folders.add(str(folder))
        for name in set(sys.modules) - known:
            file = str(getattr(sys.modules[name], "__file__", None))
            installed = name.partition(".")[0] == "attnconf" or "site-packages" in file
            if name in hidden or (not installed and roots & set(Path(file).parents)):
                _siblings[name] = folder


def hides(path: Path, tree: ast.Module) -> dict[str, Path]:
    """Return the packages above a file that it imports from, and that a file beside it, or itself, has the name of."""
    found = {path.stem: path.parent} if path.stem == path.parent.name and (path.parent / "__init__.py").exists() else {}
    for name, below in _imported(tree):
        beside = path.parent / name
        for above in () if beside.is_dir() or not beside.with_suffix(".py").exists() else path.parents[1:]:
            if (above / name / below).is_dir() or (above / name / f"{below}.py").exists():
                found[name] = above / name
                break
    return found


def _imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the packages that a text imports from by their names, each with what is imported of it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            dotted = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            dotted = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in dotted:
            package, _, below = name.partition(".")
            if below:
                yield package, below.partition(".")[0]


def above_it(folder: Path) -> list[str]:
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
        sys.modules[name] = _package(name, above)
    module.__package__ = name


def _package(name: str, folder: Path) -> ModuleType:
    """Return a package of the modules in a folder."""
    package = ModuleType(name)
    package.__path__ = [str(folder)]
    return package
