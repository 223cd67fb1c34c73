"""Find what ``--impl`` names. ``catalogue.HOW_TO_NAME`` says what that may be, and where it is looked for first.

Each may carry ``:variant`` where the module offers variants, or ``:ClassOrFunction`` where it is no adapter, and
``@component``. What cannot be found is the caller's mistake (LoadError); what is found but cannot be judged becomes
an Unjudgeable, which gets a verdict of its own.
"""

import importlib.util
import inspect
import os
import re
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, entry_points, requires
from pathlib import Path
from types import ModuleType
from typing import Any

from attnconf.adapters.contract import COMPONENTS, CONVENTIONS
from attnconf.conformance.engine.catalogue import adapter_names
from attnconf.conformance.engine.request import GUESS, Binding, Implementation, Unjudgeable, of_component
from attnconf.conformance.loading.required_conventions import held_to, instead
from attnconf.conformance.source.exception_words import deed
from attnconf.conformance.source.reader import (
    NotLoaded,
    NotThere,
    Source,
    of_module,
    quiet,
    read,
    read_module,
)
from attnconf.conformance.source.signatures import parameters_of
from attnconf.conformance.source.statements import configured
from attnconf.spec.nearest import hint, nearest

# (what was read, what the user typed, a class or function in it, a component, what is declared) -> what it has
Infer = Callable[[Source, str, str | None, str | None, Mapping[str, str]], Sequence[Implementation | Unjudgeable]]
_READ = (".py", ".ipynb")  # the files that can be read


class LoadError(Exception):
    """No such implementation; the message says what was looked for and what is nearest."""


@dataclass(frozen=True)
class Name:
    """What the user typed, taken apart."""

    typed: str
    target: str  # a path, or a name with or without dots
    chosen: str | None = None  # a variant, or a class or function in it
    component: str | None = None  # what to judge it as

    @staticmethod
    def of(typed: str) -> "Name":
        """Take ``target:chosen@component`` apart. Raises LoadError where no component is called so."""
        rest, component = typed, None
        head, at, tail = typed.rpartition("@")
        if at and head and re.fullmatch(r"[\w-]*", tail) and not Path(typed).exists():
            rest, component = head, tail.replace("-", "_")
            if component not in COMPONENTS:
                there_are = f"there are {', '.join(COMPONENTS)}{hint(component, COMPONENTS)}"
                raise LoadError(f"--impl {typed}: no component {tail!r}: {there_are}")
        head, colon, tail = rest.rpartition(":")
        if colon and tail.isidentifier():
            return Name(typed, head, tail, component)
        return Name(typed, rest, None, component)


def load(typed: str, infer: Infer, prescribed: Mapping[str, str] | None = None) -> list[Implementation | Unjudgeable]:
    """Return what a name stands for: one implementation, or one for each variant or component.

    infer       finds the components of a file that is no adapter
    prescribed  conventions that it is held to, whatever it declares or was found to keep

    Raises LoadError if there is nothing of this name.
    """
    return [held_to(i, prescribed or {}) for i in _load(typed, infer, prescribed or {})]


def _load(typed: str, infer: Infer, prescribed: Mapping[str, str]) -> list[Implementation | Unjudgeable]:
    name = Name.of(typed)
    if name.target in adapter_names() and not _is_of_the_library(name):
        return _adapter(name, _shipped(f"attnconf.adapters.{name.target}"))
    points = entry_points(group="attnconf.adapters", name=name.target)
    if points and not _in_working_folder(name.target):
        return _adapter(name, _import(next(iter(points)).value))
    name, found = _find(name)
    return (
        [replace(found, name=typed)] if isinstance(found, Unjudgeable) else _of_source(name, found, infer, prescribed)
    )


def _is_of_the_library(name: Name) -> bool:
    """Return whether a name is that of a class in a library which an adapter of ours is called after."""
    if name.chosen is None or importlib.util.find_spec(name.target) is None:
        return False
    adapter = _shipped(f"attnconf.adapters.{name.target}")
    variants = {} if isinstance(adapter, Unjudgeable) else getattr(adapter.module, "variants", {})
    if name.chosen in variants:
        return False
    library = _import(name.target)
    return not isinstance(library, Unjudgeable) and callable(getattr(library.module, name.chosen, None))


def load_module(module: ModuleType, infer: Infer, component: str | None = None) -> list[Implementation | Unjudgeable]:
    """Return what a module stands for that is there already. Raises LoadError if it has no such component."""
    return _of_source(Name(module.__name__, module.__name__, None, component), of_module(module), infer, {})


def _of_source(
    name: Name, found: Source, infer: Infer, prescribed: Mapping[str, str]
) -> list[Implementation | Unjudgeable]:
    variants = getattr(found.module, "variants", None)
    is_variant = name.chosen is None or (isinstance(variants, dict) and name.chosen in variants)
    is_there = name.chosen is not None and callable(getattr(found.module, name.chosen, None))
    if _adapts(found) and (is_variant or not is_there):
        return _adapter(name, found)
    if name.chosen is not None and not is_there:
        return [Unjudgeable(name.typed, _source(found.module), _no_such(found, name.chosen))]
    declares = vars(found.module).get("declares")
    declares = declares if isinstance(declares, dict) else {}  # else the name is used for something else
    if problem := _wrong_declaration(declares):
        return [Unjudgeable(name.typed, _source(found.module), problem)]
    inferred = infer(found, name.typed, name.chosen, name.component, instead(declares, prescribed))
    inferred = [i if isinstance(i, Unjudgeable) else _declaring(i, declares) for i in inferred]
    judged: list[Implementation | Unjudgeable] = [i for i in inferred if isinstance(i, Implementation)]
    if name.chosen is None and found.lost:  # what is lost is not forgotten because others can be judged
        source, names = _source(found.module), found.lost if judged else found.lost[:1]
        lost = [Unjudgeable(f"{name.typed}:{n}" if judged else name.typed, source, found.absent[n]) for n in names]
        return [*judged, *lost]
    return [replace(i, reason=i.reason + found.untried()) if isinstance(i, Unjudgeable) else i for i in inferred]


def _declaring(implementation: Implementation, declares: Mapping[str, Any]) -> Implementation:
    """Return an implementation with what its file declares of its components."""
    declared = {n: choice for c in implementation.components for n, choice in of_component(declares, c).items()}
    said = tuple(f"declared     {name}={choice}" for name, choice in declared.items())
    return held_to(replace(implementation, notes=(*implementation.notes, *said)), declared)


def source_of(typed: str) -> tuple[Name, Source]:
    """Return what a name stands for, read but not bound. Raises LoadError, also where it cannot be judged."""
    name, found = _find(Name.of(typed))
    if isinstance(found, Unjudgeable):
        raise LoadError(f"{typed}: {found.reason}")
    if name.chosen is not None and not callable(getattr(found.module, name.chosen, None)):
        raise LoadError(f"{typed}: {_no_such(found, name.chosen)}")
    return name, found


def _adapter(name: Name, found: Source | Unjudgeable) -> list[Implementation | Unjudgeable]:
    """Return the implementations of an adapter: one, or one for each variant."""
    if isinstance(found, Unjudgeable):
        return [replace(found, name=name.typed)]
    module = found.module
    variants = getattr(module, "variants", None)
    if name.chosen is not None and (not isinstance(variants, dict) or name.chosen not in variants):
        there = ", ".join(variants) if isinstance(variants, dict) else "none"
        raise LoadError(f"--impl {name.typed}: {name.target} has no variant {name.chosen!r} (variants: {there})")
    suffix = f"@{name.component}" if name.component else ""
    if not isinstance(variants, dict):
        return [_only(_describe(f"{name.target}{suffix}", module, vars(module)), name)]
    if not variants or not all(isinstance(v, dict) for v in variants.values()):
        wrong = "variants must be a non-empty dict: name -> dict of component functions"
        return [Unjudgeable(name.typed, _source(module), wrong)]
    chosen = [name.chosen] if name.chosen is not None else list(variants)
    return [_only(_describe(f"{name.target}:{v}{suffix}", module, variants[v]), name) for v in chosen]


def _only(found: Implementation | Unjudgeable, name: Name) -> Implementation | Unjudgeable:
    """Return an implementation with nothing but the component that was asked for. Raises LoadError."""
    if name.component is None or isinstance(found, Unjudgeable):
        return found
    if name.component not in found.components:
        has = ", ".join(found.components)
        raise LoadError(f"--impl {name.typed}: {name.target} has no component {name.component!r} (it has {has})")
    return replace(found, components={name.component: found.components[name.component]})


def _adapts(found: Source) -> bool:
    """Return whether a module defines functions of the contract, rightly or with a mistake in their names."""
    module = found.module
    functions = {n: v for n, v in vars(module).items() if inspect.isroutine(v) or callable(v)}
    variants = getattr(module, "variants", None)
    if isinstance(variants, dict) and any(isinstance(v, dict) and set(v) & set(COMPONENTS) for v in variants.values()):
        return True
    if any(n in COMPONENTS and configured(_parameters(v)) for n, v in functions.items()):
        return True
    if any(len(_parameters(v)) == 2 and configured(_parameters(v)) for v in functions.values()):
        return _misspelt(functions) is not None
    declared = isinstance(variants, dict) or any(hasattr(module, c) for c in COMPONENTS)
    return declared and not found.names()


def _parameters(function: object) -> list[str]:
    return [p.name for p in parameters_of(function)]


def _no_such(found: Source, wanted: str) -> str:
    """Return why a file has nothing callable of this name, and what it has."""
    if hasattr(found.module, wanted):
        kind = type(getattr(found.module, wanted)).__name__
        return f"{wanted} is of type {kind}, want a class or a function"
    if wanted in found.absent:
        return f"{wanted} has no value: {found.absent[wanted]}"
    public = [n for n, v in vars(found.module).items() if inspect.isclass(v) or inspect.isroutine(v)]
    names = found.names() if found.path and found.path.name != "__init__.py" else sorted(public)
    has = f"it has {', '.join(names[:12])}{', …' if len(names) > 12 else ''}" if names else "it defines none"
    return f"it has no class or function {wanted!r}: {has}{hint(wanted, public)}"


def working_folder_last() -> None:
    """Let modules of the working folder be found, and none of them stand in for an installed one.

    For front ends: it changes the order of ``sys.path`` for good.
    """
    here = os.getcwd()
    sys.path[:] = [*(path for path in sys.path if path not in ("", here)), here]


def _in_working_folder(target: str) -> Path | None:
    """Return the .py file or notebook of a bare name in the working folder, or None."""
    if not target or {".", "/", "\\"} & set(target):
        return None
    return next((path for path in (Path(target + suffix) for suffix in _READ) if path.is_file()), None)


def _find(name: Name) -> tuple[Name, Source | Unjudgeable]:
    """Return what a path, a bare name or a dotted name leads to; of a dotted name, the last part may be a class."""
    target = name.target
    path = Path(target)
    if path.suffix in _READ or "/" in target or "\\" in target or (path.suffix and path.is_file()):
        return name, _from_path(path, name.chosen)
    if here := _in_working_folder(target):
        return name, _from_path(here, name.chosen)
    if not {"", os.getcwd()} & set(sys.path):
        sys.path.append(os.getcwd())  # for packages in the working folder
    if _known(target):
        if path.is_dir() and getattr(importlib.util.find_spec(target), "origin", None) is None:
            return name, _from_path(path, name.chosen)  # Python takes any folder for a package
        return name, _import(target)
    head, dot, tail = target.rpartition(".")
    if dot and name.chosen is None and _known(head):
        found = _import(head)
        if isinstance(found, Unjudgeable) or hasattr(found.module, tail):
            return replace(name, target=head, chosen=tail), found
        names = [n for n in dir(found.module) if callable(getattr(found.module, n, None))]
        near = hint(tail, names, {n: f"{head}.{n}" for n in names})
        raise LoadError(f"no implementation {target!r}: the module {head} has no {tail!r}{near}")
    raise LoadError(_nothing(target))


def _known(target: str) -> bool:
    """Return whether a dotted name is a module's."""
    try:
        with quiet():
            return importlib.util.find_spec(target) is not None
    except (ImportError, ValueError):
        return False
    except (Exception, SystemExit):  # the package above it was run, and failed: importing says how
        return True


def _nothing(target: str) -> str:
    points = entry_points(group="attnconf.adapters").names
    candidates = [*adapter_names(), *(n for p in _readable(Path()) for n in (p.stem, p.name)), *points]
    top = target.partition(".")[0]
    lacking = f"; there is no module {top!r}" if "." in target and top.isidentifier() and not _known(top) else ""
    return (
        f"no implementation {target!r}{hint(target, candidates)}{lacking}; it is neither an adapter "
        "(attnconf list implementations), nor the name of a file in this folder, nor an entry point in the group "
        "attnconf.adapters, nor an importable module or a class in one, nor a path to a .py or .ipynb file"
    )


def _readable(folder: Path) -> list[Path]:
    return [path for path in folder.glob("*") if path.suffix in _READ]


def _from_path(path: Path, wanted: str | None) -> Source | Unjudgeable:
    if path.is_dir():
        raise LoadError(f"{str(path)!r} is a folder, want a .py or .ipynb file or a dotted module")
    if not path.is_file():
        there = {other.name: str(path.with_name(other.name)) for other in _readable(path.parent)}
        raise LoadError(f"no file {str(path)!r}{hint(path.name, there, there)}")
    if path.suffix not in _READ:
        raise LoadError(f"{str(path)!r} is not a Python file: its name must end in .py or .ipynb")
    try:
        return read(path, [wanted] if wanted else [])
    except NotThere as error:
        raise LoadError(str(error)) from None
    except NotLoaded as error:
        return Unjudgeable(str(path), str(path), str(error))


def _shipped(dotted: str) -> Source | Unjudgeable:
    """Return an adapter of ours. One whose library is not installed is not run, which is no fault of either."""
    try:
        return read_module(dotted)
    except ModuleNotFoundError as error:
        package = (error.name or "attnconf").partition(".")[0]
        if package == "attnconf":
            return _broken(dotted, error)
        return Unjudgeable(dotted, dotted, f"not run: needs {package}{_extra(package)}", lacking=True)
    except KeyboardInterrupt:  # the user's
        raise
    except BaseException as error:
        return _broken(dotted, error)


def _extra(package: str) -> str:
    """Return how to install a package, where one of our extras has it."""
    try:
        wanted = requires("attention-conformance") or []
    except PackageNotFoundError:
        return ""
    entries = [re.match(r"([\w.-]+).*extra == [\"']([\w-]+)", line) for line in wanted]
    extras = [e[2] for e in entries if e and e[1].lower().replace("-", "_") == package.lower()]
    return f", pip install 'attention-conformance[{extras[0]}]'" if extras else ""


def _import(dotted: str) -> Source | Unjudgeable:
    try:
        return read_module(dotted)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return _broken(dotted, error)


def _broken(dotted: str, error: BaseException) -> Unjudgeable:
    """Return why importing a module failed: exception, text and line."""
    if isinstance(error, SyntaxError):
        at = f" in {Path(error.filename).name}" if error.filename else ""
        return Unjudgeable(dotted, dotted, f"line {error.lineno}{at}: {type(error).__name__}: {error.msg}")
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename).stem == dotted.rpartition(".")[2]]
    place = f" (line {lines[-1]})" if lines else ""
    return Unjudgeable(dotted, dotted, f"importing it {deed(error)}{place}")


def _source(module: ModuleType) -> str:
    return str(getattr(module, "__file__", None) or module.__name__)


def _describe(name: str, module: ModuleType, functions: dict[str, Any]) -> Implementation | Unjudgeable:
    source = _source(module)
    components = {c: functions[c] for c in COMPONENTS if c in functions}
    problem = _misspelt(functions) if not components else None
    declares = functions.get("declares", getattr(module, "declares", {}))
    profile = functions.get("profile", getattr(module, "profile", None))
    problem = problem or _wrong_components(components) or _wrong_declaration(declares)
    if profile is not None and not isinstance(profile, str):
        problem = problem or f"profile must be a name, found {profile!r}"
    if problem:
        return Unjudgeable(name, source, problem)
    version = getattr(module, "__version__", None)
    binding, notes = None, tuple[str, ...]()
    if getattr(module, "binding", "adapter") == "inferred":  # written by `attnconf bind`
        binding = Binding(source, established=bool(functions.get("established", getattr(module, "established", True))))
        notes = () if binding.established else (f"binding      {GUESS}",)
    version = None if version is None else str(version)
    return Implementation(name, components, dict(declares), profile, source, version, notes, binding)


def _misspelt(functions: dict[str, Any]) -> str | None:
    """Return what is wrong where no component is there, but a function of nearly the same name is."""
    for name, value in functions.items():
        close = nearest(name, COMPONENTS, at_least=0.8)
        if close and inspect.isfunction(value):
            return f"it defines {name}, which is no component; nearest: {close}"
    return None


def _wrong_components(components: dict[str, Any]) -> str | None:
    if not components:
        return f"it defines none of the functions {', '.join(COMPONENTS)}(config, weights)"
    problems = ((name, _wrong_signature(function)) for name, function in components.items())
    found = [f"{name} must be a function (config, weights), {problem}" for name, problem in problems if problem]
    return found[0] if found else None


def _wrong_signature(function: object) -> str | None:
    if not callable(function):
        return f"found {function!r}"
    try:
        inspect.signature(function).bind(None, None)
    except TypeError:
        return f"found ({', '.join(inspect.signature(function).parameters)})"
    except ValueError:
        pass  # a builtin without a signature: let the call decide
    return None


def _wrong_declaration(declares: object) -> str | None:
    if not isinstance(declares, dict):
        return f"declares must be a dict of conventions, found {type(declares).__name__}"
    for key, value in declares.items():
        if key in COMPONENTS:
            problem = _wrong_declaration(value)
            if problem:
                return f"{key}: {problem}"
            continue
        if key not in CONVENTIONS:
            there_are = f"{', '.join(CONVENTIONS)}{hint(str(key), CONVENTIONS)}"
            return f"declares names {key!r}, which is no convention ({there_are})"
        if value not in CONVENTIONS[key]:
            return f"declares {key!r} as {value!r}, want one of {', '.join(CONVENTIONS[key])}"
    return None
