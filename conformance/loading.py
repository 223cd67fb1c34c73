"""Find what ``--impl`` names: an adapter of ours, an entry point, a dotted module, or a path to a .py file.

Each may carry ``:variant`` where the module offers variants. What cannot be found is the caller's mistake
(LoadError); what is found but cannot be judged becomes an Unjudgeable, which gets a verdict of its own.
"""

import difflib
import importlib
import importlib.util
import inspect
import re
import sys
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, entry_points, requires
from pathlib import Path
from types import ModuleType
from typing import Any

from attnconf.adapters.contract import COMPONENTS, CONVENTIONS
from attnconf.conformance.door import Implementation
from attnconf.conformance.names import adapter_names


class LoadError(Exception):
    """No such implementation; the message says what was looked for and what is nearest."""


@dataclass(frozen=True)
class Unjudgeable:
    """An implementation that was found but cannot be judged, and why."""

    name: str
    source: str
    reason: str
    lacking: bool = False  # the environment lacks a package: nothing is known of the implementation


def load(name: str) -> list[Implementation | Unjudgeable]:
    """Return what ``name`` stands for: one implementation, or one for each variant.

    Raises LoadError if there is nothing of this name.
    """
    target, variant = _split(name)
    found = _find(target)
    if isinstance(found, Unjudgeable):
        return [replace(found, name=name)]
    variants = getattr(found, "variants", None)
    if variant is not None and (not isinstance(variants, dict) or variant not in variants):
        there = ", ".join(variants) if isinstance(variants, dict) else "none"
        raise LoadError(f"--impl {name}: {target} has no variant {variant!r} (variants: {there})")
    if not isinstance(variants, dict):
        return [_describe(target, found, vars(found))]
    if not variants or not all(isinstance(v, dict) for v in variants.values()):
        wrong = "variants must be a non-empty dict: name -> dict of component functions"
        return [Unjudgeable(name, _source(found), wrong)]
    chosen = [variant] if variant is not None else list(variants)
    return [_describe(f"{target}:{v}", found, variants[v]) for v in chosen]


def _split(name: str) -> tuple[str, str | None]:
    head, colon, tail = name.rpartition(":")
    return (head, tail) if colon and tail.isidentifier() else (name, None)


def _find(target: str) -> ModuleType | Unjudgeable:
    if target.endswith(".py") or "/" in target or "\\" in target or (Path(target).suffix and Path(target).is_file()):
        return _from_path(Path(target))
    if target in adapter_names():
        return _shipped(f"attnconf.adapters.{target}")
    for point in entry_points(group="attnconf.adapters"):
        if point.name == target:
            return _import(point.value)
    try:
        known = importlib.util.find_spec(target) is not None
    except (ImportError, ValueError):
        known = False
    except (Exception, SystemExit):  # the package above it was run, and failed: importing says how
        known = True
    if known:
        return _import(target)
    raise LoadError(_nothing(target))


def _nothing(target: str) -> str:
    message = f"no implementation {target!r}: it is neither an adapter ({', '.join(adapter_names())}), "
    message += "nor an entry point in the group attnconf.adapters, nor an importable module, nor a path to a .py file"
    candidates = [*adapter_names(), *(str(p) for p in Path().glob("*.py"))]
    close = difflib.get_close_matches(target, candidates, n=1)
    return message + (f"; nearest: {close[0]}" if close else "")


def _from_path(path: Path) -> ModuleType | Unjudgeable:
    if path.is_dir():
        raise LoadError(f"{str(path)!r} is a folder, want a .py file or a dotted module")
    if not path.is_file():
        close = difflib.get_close_matches(path.name, [p.name for p in path.parent.glob("*.py")], n=1)
        raise LoadError(f"no file {str(path)!r}" + (f"; nearest: {path.with_name(close[0])}" if close else ""))
    if path.suffix != ".py":
        raise LoadError(f"{str(path)!r} is not a Python file: its name must end in .py")
    return _run(lambda: _exec(path), str(path))


def _exec(path: Path) -> ModuleType:
    """Return the module in a file, registered under a name that no other module has: dataclasses look it up."""
    name = path.stem
    if name in sys.modules or name in sys.stdlib_module_names:
        name = f"{name}_{len(sys.modules)}"
    spec = importlib.util.spec_from_file_location(name, path.absolute())
    if spec is None or spec.loader is None:
        raise ImportError(f"no way to load {str(path)!r}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(path.absolute().parent))
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    finally:
        sys.path.pop(0)
    return module


def _shipped(dotted: str) -> ModuleType | Unjudgeable:
    """Return an adapter of ours. One whose library is not installed is not run, which is no fault of either."""

    def load_module() -> ModuleType | Unjudgeable:
        try:
            return importlib.import_module(dotted)
        except ModuleNotFoundError as error:
            package = (error.name or "attnconf").partition(".")[0]
            if package == "attnconf":
                raise
            return Unjudgeable(dotted, dotted, f"not run: needs {package}{_extra(package)}", lacking=True)

    return _run(load_module, dotted)


def _extra(package: str) -> str:
    """Return how to install a package, where one of our extras has it."""
    try:
        wanted = requires("attention-conformance") or []
    except PackageNotFoundError:
        return ""
    entries = [re.match(r"([\w.-]+).*extra == [\"']([\w-]+)", line) for line in wanted]
    extras = [e[2] for e in entries if e and e[1].lower().replace("-", "_") == package.lower()]
    return f", pip install 'attention-conformance[{extras[0]}]'" if extras else ""


def _import(dotted: str) -> ModuleType | Unjudgeable:
    return _run(lambda: importlib.import_module(dotted), dotted)


def _run(load_module: Callable[[], ModuleType | Unjudgeable], source: str) -> ModuleType | Unjudgeable:
    """Return the module, or why importing it failed: exception, text and line."""
    try:
        with warnings.catch_warnings(action="ignore"):  # its warnings are its own affair
            return load_module()
    except KeyboardInterrupt:  # the user's
        raise
    except SystemExit as error:
        return Unjudgeable(source, source, f"importing it called exit({error.code!r}){_line(error, source)}")
    except SyntaxError as error:
        where = (
            f" in {Path(error.filename).name}"
            if error.filename and Path(error.filename).name != Path(source).name
            else ""
        )
        return Unjudgeable(source, source, f"line {error.lineno}{where}: {type(error).__name__}: {error.msg}")
    except BaseException as error:
        words = (str(error).strip() or "no words").splitlines()[0]
        return Unjudgeable(source, source, f"importing it raised {type(error).__name__}: {words}{_line(error, source)}")


def _line(error: BaseException, source: str) -> str:
    """Return the line of the implementation's own file that an exception came through last."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f.lineno for f in frames if Path(f.filename).stem == Path(source).stem.split(".")[-1]]
    return f" (line {ours[-1]})" if ours else ""


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
    return Implementation(name, components, dict(declares), profile, source, None if version is None else str(version))


def _misspelt(functions: dict[str, Any]) -> str | None:
    """Return what is wrong where no component is there, but a function of nearly the same name is."""
    for name, value in functions.items():
        close = difflib.get_close_matches(name, COMPONENTS, n=1, cutoff=0.8)
        if close and inspect.isfunction(value):
            return f"it defines {name}, which is no component; nearest: {close[0]}"
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
            close = difflib.get_close_matches(str(key), CONVENTIONS, n=1)
            hint = f"; nearest: {close[0]}" if close else ""
            return f"declares names {key!r}, which is no convention ({', '.join(CONVENTIONS)}{hint})"
        if value not in CONVENTIONS[key]:
            return f"declares {key!r} as {value!r}, want one of {', '.join(CONVENTIONS[key])}"
    return None
