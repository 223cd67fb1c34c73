"""Find the module that a name leads to: a path, an adapter, an entry point, or a dotted name."""

import importlib.util
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, entry_points, requires
from pathlib import Path

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.engine.catalogue import adapter_names
from attnconf.conformance.engine.request import Unjudgeable
from attnconf.conformance.source.not_loaded import NotLoaded, NotThere
from attnconf.conformance.source.quiet import quiet
from attnconf.conformance.source.reader import Source, read, read_module
from attnconf.conformance.worker.survey import broken
from attnconf.spec.nearest import hint

_READ = (".py", ".ipynb", ".onnx")  # the files that can be read


class LoadError(Exception):
    """The name leads to no implementation; the message has the places of the search, and the nearest name."""


@dataclass(frozen=True)
class Name:
    """The parts of a typed name: ``target:chosen@component``."""

    typed: str
    target: str  # a path, or a name with or without dots
    chosen: str | None = None  # a variant, or a class, function or Class.method in it
    component: str | None = None  # the component to judge it as

    @staticmethod
    def of(typed: str) -> "Name":
        """Take ``target:chosen@component`` apart. Raises LoadError for an unknown component."""
        rest, component = typed, None
        head, at, tail = typed.rpartition("@")
        if at and head and re.fullmatch(r"[\w-]*", tail) and not Path(typed).exists():
            rest, component = head, tail.replace("-", "_")
            if component not in COMPONENTS:
                there_are = f"there are {', '.join(COMPONENTS)}{hint(component, COMPONENTS)}"
                raise LoadError(f"--impl {typed}: no component {tail!r}: {there_are}")
        head, colon, tail = rest.rpartition(":")
        if colon and not tail:
            raise LoadError(f"--impl {typed}: behind the colon stands no name of a class or function")
        if colon and all(map(str.isidentifier, tail.split("."))) and Path(tail).suffix not in _READ:
            return Name(typed, head, tail, component)
        return Name(typed, rest, None, component)


def working_folder_last() -> None:
    """Let modules of the working folder be imported, but only after installed ones.

    For front ends: it changes the order of ``sys.path`` for good.
    """
    here = os.getcwd()
    sys.path[:] = [*(path for path in sys.path if path not in ("", here)), here]


def find(name: Name) -> tuple[Name, Source | Unjudgeable]:
    """Return the module of a path, a bare name or a dotted name; the last part of a dotted name may be a class."""
    found, place = located(name)
    if isinstance(place, Path):
        return found, _from_path(place, found.chosen)
    source = imported(place)
    if found is not name and isinstance(source, Source) and not hasattr(source.module, str(found.chosen)):
        names = [n for n in dir(source.module) if callable(getattr(source.module, n, None))]
        raise LoadError(without(name, names))
    return found, source


def without(name: Name, names: Sequence[str]) -> str:
    """Return the words on a dotted name whose last part a module lacks; ``names``: what it has that can be called."""
    head, _, tail = name.target.rpartition(".")
    near = hint(tail, names, {n: f"{head}.{n}" for n in names})
    return f"no implementation {name.target!r}: the module {head} has no {tail!r}{near}"


def located(name: Name) -> tuple[Name, Path | str]:
    """Return the file, or the module's dotted name, that a name leads to; a class behind the last dot is chosen.

    Raises LoadError. Nothing is read; the packages above a module are imported.
    """
    os.environ.setdefault("KERAS_BACKEND", "torch")  # Keras reads it when it is imported
    target = name.target
    path = Path(target)
    if path.suffix in _READ or "/" in target or "\\" in target or (path.suffix and path.is_file()):
        return name, path
    if here := in_working_folder(target):
        return name, here
    if not {"", os.getcwd()} & set(sys.path):
        sys.path.append(os.getcwd())  # for packages in the working folder
    if _known(target):
        if path.is_dir() and getattr(importlib.util.find_spec(target), "origin", None) is None:
            return name, path  # Python takes any folder for a package
        return name, target
    head, dot, tail = target.rpartition(".")
    if dot and name.chosen is None and _known(head):
        return replace(name, target=head, chosen=tail), head
    if target and path.is_dir():
        return name, path
    raise LoadError(_nothing(target))


def in_working_folder(target: str) -> Path | None:
    """Return the .py file, notebook or .onnx file of a bare name in the working folder, or None."""
    if not target or {".", "/", "\\"} & set(target):
        return None
    return next((path for path in (Path(target + suffix) for suffix in _READ) if path.is_file()), None)


def _known(target: str) -> bool:
    """Return whether a dotted name is the name of a module."""
    try:
        with quiet():
            return importlib.util.find_spec(target) is not None
    except (ImportError, ValueError):
        return False
    except (Exception, SystemExit):  # its package was run and failed: importing will say how
        return True


def _nothing(target: str) -> str:
    points = entry_points(group="attnconf.adapters").names
    candidates = [*adapter_names(), *(n for p in _readable(Path()) for n in (p.stem, p.name)), *points]
    top = target.partition(".")[0]
    lacking = f"; there is no module {top!r}" if "." in target and top.isidentifier() and not _known(top) else ""
    return (
        f"no implementation {target!r}{hint(target, candidates)}{lacking}; it is neither an adapter "
        "(attnconf list implementations), nor the name of a file in this folder, nor an entry point in the group "
        "attnconf.adapters, nor an importable module or a class in one, nor a path to a .py, .ipynb or .onnx file"
    )


def _readable(folder: Path) -> list[Path]:
    return [path for path in folder.glob("*") if path.suffix in _READ]


def source_at(place: Path | str, wanted: str | None) -> Source | Unjudgeable:
    """Return the module of a place that ``located`` gave, with the class or function that is wanted of it."""
    return _from_path(place, wanted) if isinstance(place, Path) else imported(place)


def _from_path(path: Path, wanted: str | None) -> Source | Unjudgeable:
    demand_file(path)
    try:
        return read(path, [wanted] if wanted else [])
    except NotThere as error:
        raise LoadError(str(error)) from None
    except NotLoaded as error:
        return Unjudgeable(str(path), str(path), str(error))


def demand_file(path: Path) -> None:
    """Raise LoadError unless a path leads to a file that can be read."""
    if path.is_dir():
        raise LoadError(f"{str(path)!r} is a folder, want a .py, .ipynb or .onnx file or a dotted module")
    if not path.is_file():
        there = {other.name: str(path.with_name(other.name)) for other in _readable(path.parent)}
        raise LoadError(f"no file {str(path)!r}{hint(path.name, there, there)}")
    if path.suffix not in _READ:
        raise LoadError(f"{str(path)!r} is no file that can be read: its name must end in .py, .ipynb or .onnx")


def shipped(dotted: str) -> Source | Unjudgeable:
    """Return a shipped adapter; an Unjudgeable that is ``lacking`` if its library is not installed."""
    try:
        return read_module(dotted)
    except ModuleNotFoundError as error:
        package = (error.name or "attnconf").partition(".")[0]
        if package == "attnconf":
            return _broken(dotted, error)
        return Unjudgeable(dotted, dotted, needs(package), lacking=True)
    except KeyboardInterrupt:  # the user's
        raise
    except BaseException as error:
        return _broken(dotted, error)


def imported(dotted: str) -> Source | Unjudgeable:
    try:
        return read_module(dotted)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return _broken(dotted, error)


def _broken(dotted: str, error: BaseException) -> Unjudgeable:
    """Return an Unjudgeable with the reason why an import failed: exception, text and line."""
    return Unjudgeable(dotted, dotted, broken(dotted, error))


def needs(package: str) -> str:
    """Return words on a package that is not installed, and on how to install it, if one of our extras has it."""
    return f"not run: needs {package}{_extra(package)}"


def _extra(package: str) -> str:
    try:
        wanted = requires("attention-conformance") or []
    except PackageNotFoundError:
        return ""
    entries = [re.match(r"([\w.-]+).*extra == [\"']([\w-]+)", line) for line in wanted]
    extras = [e[2] for e in entries if e and e[1].lower().replace("-", "_") == package.lower()]
    return f", pip install 'attention-conformance[{extras[0]}]'" if extras else ""
