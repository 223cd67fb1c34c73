"""Find what ``--impl`` names: an adapter of ours, an entry point, a dotted module, or a path to a .py file.

Each may carry ``:variant`` where the module offers variants. What cannot be found is the caller's mistake
(LoadError); what is found but cannot be judged becomes an Unjudgeable, which gets a verdict of its own.
"""

import difflib
import importlib
import importlib.util
import inspect
import sys
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

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


def load(name: str) -> list[Implementation | Unjudgeable]:
    """Return what ``name`` stands for: one implementation, or one for each variant.

    Raises LoadError if there is nothing of this name.
    """
    target, variant = _split(name)
    found = _find(target)
    if isinstance(found, Unjudgeable):
        return [Unjudgeable(name, found.source, found.reason)]
    variants = getattr(found, "variants", None)
    if variant is not None and (not isinstance(variants, dict) or variant not in variants):
        there = ", ".join(variants) if isinstance(variants, dict) else "none"
        raise LoadError(f"--impl {name}: {target} has no variant {variant!r} (variants: {there})")
    if not isinstance(variants, dict):
        return [_describe(target, found, vars(found))]
    chosen = [variant] if variant is not None else list(variants)
    return [_describe(f"{target}:{v}", found, variants[v]) for v in chosen]


def _split(name: str) -> tuple[str, str | None]:
    head, colon, tail = name.rpartition(":")
    return (head, tail) if colon and tail.isidentifier() else (name, None)


def _find(target: str) -> ModuleType | Unjudgeable:
    if target.endswith(".py") or "/" in target or "\\" in target:
        return _from_path(Path(target))
    if target in adapter_names():
        return _import(f"attnconf.adapters.{target}")
    for point in entry_points(group="attnconf.adapters"):
        if point.name == target:
            return _import(point.value)
    try:
        known = importlib.util.find_spec(target) is not None
    except (ImportError, ValueError):
        known = False
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
    if not path.is_file():
        close = difflib.get_close_matches(path.name, [p.name for p in path.parent.glob("*.py")], n=1)
        raise LoadError(f"no file {str(path)!r}" + (f"; nearest: {path.with_name(close[0])}" if close else ""))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise LoadError(f"{str(path)!r} is not a Python file (its name must end in .py)")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.resolve().parent))
    try:
        return _run(lambda: spec.loader.exec_module(module) or module, str(path))  # type: ignore[union-attr, func-returns-value]
    finally:
        sys.path.pop(0)


def _import(dotted: str) -> ModuleType | Unjudgeable:
    return _run(lambda: importlib.import_module(dotted), dotted)


def _run(load_module, source: str) -> ModuleType | Unjudgeable:  # type: ignore[no-untyped-def]
    """Return the module, or why importing it failed: exception, text and line."""
    try:
        return load_module()  # type: ignore[no-any-return]
    except SystemExit as error:
        return Unjudgeable(source, source, f"importing it called exit({error.code!r})")
    except SyntaxError as error:
        return Unjudgeable(source, source, f"line {error.lineno}: SyntaxError: {error.msg}")
    except Exception as error:
        frames = inspect.getinnerframes(error.__traceback__) if error.__traceback__ else []
        ours = [f for f in frames if f.filename == source or Path(f.filename).stem == Path(source.split(".")[-1]).stem]
        at = f" (line {ours[-1].lineno})" if ours else ""
        return Unjudgeable(source, source, f"importing it raised {type(error).__name__}: {error}{at}")


def _describe(name: str, module: ModuleType, functions: dict[str, object]) -> Implementation | Unjudgeable:
    source = str(getattr(module, "__file__", None) or module.__name__)
    components = {c: functions[c] for c in COMPONENTS if c in functions}
    if not components:
        return Unjudgeable(name, source, f"it defines none of the functions {', '.join(COMPONENTS)}(config, weights)")
    for component, function in components.items():
        problem = _wrong_signature(function)
        if problem:
            return Unjudgeable(name, source, f"{component} must be a function (config, weights), {problem}")
    declares = functions.get("declares", getattr(module, "declares", {}))
    problem = _wrong_declaration(declares)
    if problem:
        return Unjudgeable(name, source, problem)
    version = getattr(module, "__version__", None)
    return Implementation(
        name, components, dict(declares), getattr(module, "profile", None), source, version and str(version)  # type: ignore[arg-type, call-overload]
    )  # fmt: skip


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
        if key not in CONVENTIONS:
            close = difflib.get_close_matches(str(key), CONVENTIONS, n=1)
            hint = f"; nearest: {close[0]}" if close else ""
            return f"declares names {key!r}, which is no convention ({', '.join(CONVENTIONS)}{hint})"
        if value not in CONVENTIONS[key]:
            return f"declares {key!r} as {value!r}, want one of {', '.join(CONVENTIONS[key])}"
    return None
