"""Mutants: the reference with functions replaced, without touching the reference.

A mutant is applied by rebuilding every function of the reference with fresh globals, in which a replaced
function stands wherever the original did. Nothing is patched, so mutants can be built side by side.
"""

import dis
import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Any

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.engine.request import Implementation
from attnconf.spec import registry

# The modules to rebuild: the reference, chapter by chapter, and last its adapter.
_CHAPTERS = [chapter for chapter in registry.CHAPTERS.values() if registry.has_reference(chapter)]
_MODULES = (*(f"reference.{chapter}" for chapter in _CHAPTERS), "adapters.reference")
_FAMILY = "attnconf.reference.attention_family"


@dataclass(frozen=True)
class Mutant:
    """One known mistake: the reference with functions replaced.

    breaks    the requirements that fail at the root because of it, exactly
    raises    the part of ``breaks`` where it raises an exception instead of returning wrong numbers
    replace   functions of the reference (or of its adapter), each with the function in its place
    """

    id: str
    story: str
    breaks: frozenset[str] | set[str]
    hint: str
    replace: Mapping[Callable[..., Any], Callable[..., Any]]
    raises: frozenset[str] | set[str] = frozenset()
    silent_on: Mapping[str, str] = field(default_factory=dict)  # component -> why the mistake has no effect there
    source: str = ""  # where the mistake was seen
    follows: frozenset[str] | set[str] = frozenset()  # training checks (slow) that fail in consequence
    variants: Sequence[Mapping[Callable[..., Any], Callable[..., Any]]] = ()  # the same mistake with other constants
    rounding: float = 0.0  # how coarsely the mistake computes, as a fraction of the largest number in a reply
    published: str = ""  # another layer, which somebody published so: to compute it is a mistake where another is meant
    heads: int = 1  # how many heads there have to be: with fewer it is none, or another mistake with other words
    fine: float = 0.0  # how finely it is told from others, where it changes less than rounding does

    @property
    def chapter(self) -> str:
        return registry.CHAPTERS[self.id.split("-")[0]]


def apply(mutants: Iterable[Mutant]) -> Implementation:
    """Return the reference's adapter with the mutants' functions in place.

    Raises ValueError if a replaced function is not the reference's, two mutants replace the same one, or the
    parameters differ.
    """
    mutants = list(mutants)
    replaced: dict[Callable[..., Any], Callable[..., Any]] = {}
    for mutant in mutants:
        for original, other in mutant.replace.items():
            _fits(mutant, original, other, replaced)
            replaced[original] = other
    for mutant in mutants if len(mutants) > 1 else ():
        beside = {f: other for f, other in replaced.items() if f not in mutant.replace}
        replaced |= _among(beside, mutant.replace)
    adapter, rebuilt = _modules()[-1], _rebuild(replaced)[1]
    name = "+".join(mutant.id for mutant in mutants)
    components = {c: rebuilt.get(getattr(adapter, c), getattr(adapter, c)) for c in COMPONENTS}
    return Implementation(name, components, declares=adapter.declares)


def _fits(mutant: Mutant, original: Any, other: Any, replaced: Mapping[Any, Any]) -> None:
    if original not in originals():
        raise ValueError(f"{mutant.id} replaces {original!r}, which is not a function of the reference")
    if original in replaced:
        raise ValueError(f"{mutant.id} replaces {original.__name__}, which another mutant replaces")
    want, got = list(inspect.signature(original).parameters), list(inspect.signature(other).parameters)
    if want != got:
        raise ValueError(f"{mutant.id} replaces {original.__name__}({', '.join(want)}) by one of ({', '.join(got)})")


@cache
def _modules() -> tuple[ModuleType, ...]:
    return tuple(importlib.import_module(f"attnconf.{name}") for name in _MODULES)


@cache
def originals() -> frozenset[Any]:
    """Return all functions of the reference and of its adapter."""
    return frozenset(
        value
        for module in _modules()
        for value in vars(module).values()
        if isinstance(value, FunctionType) and value.__module__ == module.__name__
    )


def reaches(component: str, mutant: Mutant) -> bool:
    """Return whether a component of the reference calls a function that the mutant replaces, directly or not.

    If not, the component is the same with and without the mutant.
    """
    return bool(reached_by(component) & set(mutant.replace))


def reached_by(component: str) -> frozenset[Any]:
    """Return the functions of the reference, and of its adapter, that a component of it calls, directly or not."""
    return _reached(getattr(_modules()[-1], component))


def size(component: str) -> int:
    """Return how many functions a plain call of a component of the reference's adapter runs.

    Those of the attention family run where a member is asked for, and are not counted.
    """
    return len(_reached(getattr(_modules()[-1], component), plainly=True))


@cache
def _reached(function: FunctionType, plainly: bool = False) -> frozenset[Any]:
    """Return a function with all functions of the reference that its code names, directly or not.

    ``plainly``: leave out those of the attention family, and what only they name.
    """
    found = {function}
    codes = [function.__code__]
    while codes:
        code = codes.pop()
        codes += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        globals_ = [function.__globals__.get(name) for name in _globals(code)]
        named = {x for x in globals_ if isinstance(x, FunctionType)} & originals()
        named = {x for x in named if not plainly or x.__module__ != _FAMILY}
        found |= named.union(*(_reached(other, plainly) for other in named if other is not function))
    return frozenset(found)


def _globals(code: CodeType) -> set[str]:
    """Return the names of globals that a code reads; an attribute may be called as a function is."""
    return {step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}


def _among(beside: Mapping[Any, Any], replace: Mapping[Any, Any]) -> dict[Any, Any]:
    """Rebuild one mutant's replacement functions so that their own calls reach the other mutants' replacements.

    Otherwise a mutant that replaces a whole layer would hide the mutants of the layer's parts.
    """
    spaces, rebuilt = _rebuild(beside)
    seen = {name: SimpleNamespace(**space) for name, space in spaces.items()}
    around: dict[int, dict[str, Any]] = {}  # by the globals of a function of the mutant, those of its copy

    def renewed(function: FunctionType) -> FunctionType:
        old = function.__globals__
        if id(old) not in around:
            space = around[id(old)] = dict(old)
            space |= {name: other(value, function.__module__) for name, value in old.items()}
        return _with_globals(function, around[id(old)])

    def other(value: Any, module: str) -> Any:
        if isinstance(value, ModuleType):
            return seen.get(value.__name__, value)
        if isinstance(value, FunctionType):
            return renewed(value) if _folder(value.__module__) == _folder(module) else rebuilt.get(value, value)
        return value

    return {original: renewed(f) for original, f in replace.items() if isinstance(f, FunctionType)}


def _folder(module: str) -> str:
    """Return the name that all modules of a chapter's mutants share; of any other module its own."""
    return module.partition(".mutants")[0]


def _rebuild(replaced: Mapping[Any, Any]) -> tuple[dict[str, dict[str, Any]], dict[Any, Any]]:
    """Return (globals by module, rebuilt function by original) for replaced functions and all their callers."""
    changed = {function for original in replaced for function in _callers(original)}
    spaces = {name: dict(vars(importlib.import_module(name))) for name in {f.__module__ for f in changed}}
    rebuilt = {f: replaced[f] if f in replaced else _with_globals(f, spaces[f.__module__]) for f in changed}
    for module, space in spaces.items():
        space |= {name: rebuilt[f] for name, f in _functions(module) if f in rebuilt}
    return spaces, rebuilt


@cache
def _callers(original: Any) -> frozenset[Any]:
    """Return a function with all functions of the reference that call it, directly or not."""
    return frozenset(f for f in originals() if original in _reached(f))


@cache
def _functions(module: str) -> tuple[tuple[str, Any], ...]:
    """Return the names of a module that stand for functions of the reference."""
    return tuple((name, value) for name, value in vars(importlib.import_module(module)).items() if _original(value))


def _original(value: Any) -> bool:
    return isinstance(value, FunctionType) and value in originals()


def _with_globals(function: FunctionType, space: dict[str, Any]) -> FunctionType:
    copy = FunctionType(function.__code__, space, function.__name__, function.__defaults__, function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy
