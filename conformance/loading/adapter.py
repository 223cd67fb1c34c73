"""Make an Implementation of an adapter's functions and declarations, or say what is wrong with them."""

import inspect
from types import ModuleType
from typing import Any

from attnconf.adapters.contract import COMPONENTS, CONVENTIONS
from attnconf.conformance.engine.request import GUESS, Binding, Implementation, Unjudgeable
from attnconf.conformance.source.reader import Source
from attnconf.conformance.source.signatures import parameters_of
from attnconf.conformance.source.statements import configured, weighed
from attnconf.spec.nearest import hint, nearest


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


def implementation_of(name: str, module: ModuleType, functions: dict[str, Any]) -> Implementation | Unjudgeable:
    source = source_path(module)
    components = {c: functions[c] for c in COMPONENTS if c in functions}
    problem = _misspelt(functions) if not components else None
    declares = functions.get("declares", getattr(module, "declares", {}))
    profile = functions.get("profile", getattr(module, "profile", None))
    problem = problem or _wrong_components(components) or wrong_declaration(declares)
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


def wrong_declaration(declares: object) -> str | None:
    if not isinstance(declares, dict):
        return f"declares must be a dict of conventions, found {type(declares).__name__}"
    for key, value in declares.items():
        if key in COMPONENTS:
            problem = wrong_declaration(value)
            if problem:
                return f"{key}: {problem}"
            continue
        if key not in CONVENTIONS:
            there_are = f"{', '.join(CONVENTIONS)}{hint(str(key), CONVENTIONS)}"
            return f"declares names {key!r}, which is no convention ({there_are})"
        if value not in CONVENTIONS[key]:
            return f"declares {key!r} as {value!r}, want one of {', '.join(CONVENTIONS[key])}"
    return None


def source_path(module: ModuleType) -> str:
    return str(getattr(module, "__file__", None) or module.__name__)
