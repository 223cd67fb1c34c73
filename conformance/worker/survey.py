"""What a module offers, as plain data: whether it is an adapter, and its components and declarations by variant."""

import inspect
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from attnconf.adapters.contract import COMPONENTS, CONVENTIONS
from attnconf.conformance.source.exception_words import deed
from attnconf.conformance.source.reader import Source
from attnconf.conformance.source.signatures import parameters_of
from attnconf.conformance.source.statements import configured, weighed
from attnconf.spec.nearest import hint, nearest


@dataclass(frozen=True)
class Offer:
    """The components of an adapter, or of one variant, and what it says of itself."""

    components: tuple[str, ...] = ()
    problem: str | None = None  # why it cannot be judged
    declares: Mapping[str, Any] = field(default_factory=dict)
    profile: str | None = None
    version: str | None = None
    inferred: bool = False  # written by `attnconf bind`
    established: bool = True


@dataclass(frozen=True)
class Survey:
    """What is known of a module without running any function of it."""

    path: str  # its file, or its name
    adapter: bool
    callables: tuple[str, ...]  # the names that can be called
    own: Offer  # the module's functions
    variants: Mapping[str, Offer] | None  # by name; None: it has no variants; empty: they are none of the contract's


def survey(source: Source) -> Survey:
    """Return what a module offers."""
    module, adapter = source.module, is_adapter(source)
    variants = getattr(module, "variants", None)
    known: dict[str, Offer] | None = None
    if isinstance(variants, dict):
        right = variants and all(isinstance(v, dict) for v in variants.values())
        known = {str(name): offer(module, v) for name, v in variants.items()} if right else {}
    callables = tuple(name for name, value in list(vars(module).items()) if callable(value))
    own = offer(module, vars(module)) if adapter else Offer()
    return Survey(source_path(module), adapter, callables, own, known)


def source_path(module: ModuleType) -> str:
    return str(getattr(module, "__file__", None) or module.__name__)


def is_adapter(source: Source) -> bool:
    """Return whether a module is an adapter: it defines functions of the contract, even if misspelt."""
    module = source.module
    functions = {n: v for n, v in vars(module).items() if inspect.isroutine(v) or callable(v)}
    variants = getattr(module, "variants", None)
    if isinstance(variants, dict) and any(isinstance(v, dict) and set(v) & set(COMPONENTS) for v in variants.values()):
        return True
    if any(n in COMPONENTS and configured(_parameters(v)) for n, v in functions.items()):
        return True
    if any(weighed(_parameters(v)) for v in functions.values()):
        return _misspelt(functions) is not None
    declared = isinstance(variants, dict) or any(hasattr(module, c) for c in COMPONENTS)
    return declared and not source.names()


def _parameters(function: object) -> list[str]:
    return [p.name for p in parameters_of(function)]


def offer(module: ModuleType, functions: Mapping[str, Any]) -> Offer:
    """Return what the functions of a module, or of one of its variants, offer."""
    components = {c: functions[c] for c in COMPONENTS if c in functions}
    problem = _misspelt(functions) if not components else None
    declares = functions.get("declares", getattr(module, "declares", {}))
    profile = functions.get("profile", getattr(module, "profile", None))
    problem = problem or _wrong_components(components) or wrong_declaration(declares)
    if profile is not None and not isinstance(profile, str):
        problem = problem or f"profile must be a name, found {profile!r}"
    if problem:
        return Offer(problem=problem)
    version = getattr(module, "__version__", None)
    inferred = getattr(module, "binding", "adapter") == "inferred"
    established = bool(functions.get("established", getattr(module, "established", True)))
    return Offer(
        tuple(components), None, dict(declares), profile, None if version is None else str(version), inferred,
        established,
    )  # fmt: skip


def _misspelt(functions: Mapping[str, Any]) -> str | None:
    """Return words on a function with nearly the name of a component, or None."""
    for name, value in functions.items():
        close = nearest(name, COMPONENTS, at_least=0.8)
        if close and inspect.isfunction(value):
            return f"it defines {name}, which is no component; nearest: {close}"
    return None


def _wrong_components(components: dict[str, Any]) -> str | None:
    if not components:
        return f"it defines none of the functions {', '.join(COMPONENTS)}(config, weights)"
    problems = ((name, _wrong_signature(function)) for name, function in components.items())
    complaints = [f"{name} must be a function (config, weights), {problem}" for name, problem in problems if problem]
    return complaints[0] if complaints else None


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


def wrong_declaration(declares: object, component: str = "") -> str | None:
    """Return words on a declaration that names no convention, or no choice of one; None where all are right."""
    if not isinstance(declares, dict):
        return f"declares must be a dict of conventions, found {type(declares).__name__}"
    for key, value in declares.items():
        if key in COMPONENTS:
            problem = wrong_declaration(value, key)
            if problem:
                return f"{key}: {problem}"
            continue
        if key not in CONVENTIONS:
            there_are = f"{', '.join(CONVENTIONS)}{hint(str(key), CONVENTIONS)}"
            return f"declares names {key!r}, which is no convention ({there_are})"
        choices = COMPONENTS[component].choices(key) if component else CONVENTIONS[key]
        if value not in choices:
            return f"declares {key!r} as {value!r}, want one of {', '.join(choices)}"
    return None


def broken(dotted: str, error: BaseException) -> str:
    """Return why the import of a module failed: exception, text and line."""
    if isinstance(error, SyntaxError):
        at = f" in {Path(error.filename).name}" if error.filename else ""
        return f"line {error.lineno}{at}: {type(error).__name__}: {error.msg}"
    frames = traceback.extract_tb(error.__traceback__)
    named = [frame for frame in frames if Path(frame.filename).stem == dotted.rpartition(".")[2]]
    lines = [frame.lineno for frame in named if frame.filename == named[0].filename]  # a library may have its like
    return f"importing it {deed(error)}{f' (line {lines[-1]})' if lines else ''}"
