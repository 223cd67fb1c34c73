"""Load the implementations of an ``--impl`` name; ``catalogue.HOW_TO_NAME`` tells users what it may be.

A name may carry ``:variant`` for an adapter with variants, or ``:ClassOrFunction`` for another module, and
``@component``. A name that leads nowhere is the caller's mistake (LoadError). An Unjudgeable stands for a module that
cannot be judged, and has a verdict of its own.
"""

import importlib.util
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from attnconf.conformance.engine.catalogue import adapter_names
from attnconf.conformance.engine.request import Implementation, Unjudgeable, of_component
from attnconf.conformance.loading.adapter import implementation_of
from attnconf.conformance.loading.find import LoadError, Name, find, imported, in_working_folder, shipped, source_at
from attnconf.conformance.loading.required_conventions import held_to, instead
from attnconf.conformance.source.reader import Source, of_module
from attnconf.conformance.worker.survey import Offer, Survey, is_adapter, source_path, survey, wrong_declaration
from attnconf.spec.nearest import hint

# (source, typed name, class or function in it, component, declared choices) -> implementations
Infer = Callable[[Source, str, str | None, str | None, Mapping[str, str]], Sequence[Implementation | Unjudgeable]]

NAMED = 2  # statements that were not run, in a header

# (name, variant, what it offers, its file) -> implementation
Made = Callable[[str, str | None, Offer, str], Implementation | Unjudgeable]


def load(typed: str, infer: Infer, prescribed: Mapping[str, str] | None = None) -> list[Implementation | Unjudgeable]:
    """Return the implementations of a name: one, or one for each variant or component.

    infer       finds the components of a file that is no adapter
    prescribed  conventions for the judgement, in place of declared ones

    Raises LoadError if the name leads nowhere.
    """
    return [held_to(i, prescribed or {}) for i in _load(typed, infer, prescribed or {})]


def _load(typed: str, infer: Infer, prescribed: Mapping[str, str]) -> list[Implementation | Unjudgeable]:
    name = Name.of(typed)
    if name.target in adapter_names() and not _is_of_the_library(name):
        return _adapter(name, shipped(f"attnconf.adapters.{name.target}"))
    points = entry_points(group="attnconf.adapters", name=name.target)
    if points and not in_working_folder(name.target):
        return _adapter(name, imported(next(iter(points)).value))
    return load_here(name, infer, prescribed)


def load_here(name: Name, infer: Infer, prescribed: Mapping[str, str]) -> list[Implementation | Unjudgeable]:
    """Return the implementations of a file, or of a module that is no adapter of ours. Raises LoadError."""
    found, source = find(name)
    if isinstance(source, Unjudgeable):
        return [replace(source, name=name.typed)]
    return _of_source(found, source, infer, prescribed)


def load_at(
    name: Name, place: Path | str, infer: Infer, prescribed: Mapping[str, str]
) -> list[Implementation | Unjudgeable]:
    """Return the implementations at a place that was found for a name. Raises LoadError."""
    source = source_at(place, name.chosen)
    if isinstance(source, Unjudgeable):
        return [replace(source, name=name.typed)]
    return _of_source(name, source, infer, prescribed)


def _is_of_the_library(name: Name) -> bool:
    """Return whether a name is that of a class in a library, and not of a variant of the adapter named alike."""
    if name.chosen is None or importlib.util.find_spec(name.target) is None:
        return False
    adapter = shipped(f"attnconf.adapters.{name.target}")
    variants = {} if isinstance(adapter, Unjudgeable) else getattr(adapter.module, "variants", {})
    if name.chosen in variants:
        return False
    library = imported(name.target)
    return not isinstance(library, Unjudgeable) and callable(getattr(library.module, name.chosen, None))


def load_module(module: ModuleType, infer: Infer, component: str | None = None) -> list[Implementation | Unjudgeable]:
    """Return the implementations in a module object. Raises LoadError if an adapter lacks the component."""
    return _of_source(Name(module.__name__, module.__name__, None, component), of_module(module), infer, {})


def _of_source(
    name: Name, source: Source, infer: Infer, prescribed: Mapping[str, str]
) -> list[Implementation | Unjudgeable]:
    variants = getattr(source.module, "variants", None)
    is_variant = name.chosen is None or (isinstance(variants, dict) and name.chosen in variants)
    is_there = name.chosen is not None and callable(_at(source.module, name.chosen))
    if is_adapter(source) and (is_variant or not is_there):
        return _adapter(name, source)
    if name.chosen is not None and not is_there:
        if name.chosen in source.absent:
            return [Unjudgeable(name.typed, source_path(source.module), _without_value(source, name.chosen))]
        raise LoadError(f"--impl {name.typed}: {_no_such(source, name.chosen)}")
    declares = vars(source.module).get("declares")
    declares = declares if isinstance(declares, dict) else {}  # otherwise the file uses the name for something else
    if problem := wrong_declaration(declares):
        return [Unjudgeable(name.typed, source_path(source.module), problem)]
    inferred = infer(source, name.typed, name.chosen, name.component, instead(declares, prescribed))
    inferred = [i if isinstance(i, Unjudgeable) else _declaring(i, declares) for i in inferred]
    inferred = [_with_what_was_not_run(i, source) if isinstance(i, Implementation) else i for i in inferred]
    judged: list[Implementation | Unjudgeable] = [i for i in inferred if isinstance(i, Implementation)]
    if name.chosen is None and source.lost:  # lost definitions are reported beside those that can be judged
        path, names = source_path(source.module), source.lost if judged else source.lost[:1]
        lost = [Unjudgeable(f"{name.typed}:{n}" if judged else name.typed, path, source.absent[n]) for n in names]
        return [*judged, *lost]
    return [replace(i, reason=i.reason + source.untried()) if isinstance(i, Unjudgeable) else i for i in inferred]


def _with_what_was_not_run(implementation: Implementation, source: Source) -> Implementation:
    """Return an implementation with a line on the statements of its file that were not run, or raised."""
    first, more = source.left_out[:NAMED], len(source.left_out[NAMED:])
    if not first:
        return implementation
    words = f"not run      {'; '.join(first)}{f' and {more} more' if more else ''}"
    return replace(implementation, notes=(*implementation.notes, words))


def _declaring(implementation: Implementation, declares: Mapping[str, Any]) -> Implementation:
    """Return an implementation with the declarations in its file, for its components."""
    declared = {n: choice for c in implementation.components for n, choice in of_component(declares, c).items()}
    notes = tuple(f"declared     {name}={choice}" for name, choice in declared.items())
    return held_to(replace(implementation, notes=(*implementation.notes, *notes)), declared)


def _at(module: ModuleType, name: str) -> Any:
    """Return what has a name in a module, or in a class of it; None if nothing has."""
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def source_of(typed: str) -> tuple[Name, Source]:
    """Return the module of a name, read but not bound. Raises LoadError, also if it cannot be judged."""
    name, source = find(Name.of(typed))
    if isinstance(source, Unjudgeable):
        raise LoadError(f"{typed}: {source.reason}")
    if name.chosen is not None and not callable(_at(source.module, name.chosen)):
        lost = name.chosen in source.absent
        raise LoadError(f"{typed}: {(_without_value if lost else _no_such)(source, name.chosen)}")
    return name, source


def _adapter(name: Name, source: Source | Unjudgeable) -> list[Implementation | Unjudgeable]:
    """Return the implementations of an adapter: one, or one for each variant."""
    if isinstance(source, Unjudgeable):
        return [replace(source, name=name.typed)]
    module = source.module

    def functions(variant: str | None) -> Mapping[str, Any]:
        return vars(module) if variant is None else module.variants[variant]

    return offered(name, survey(source), lambda label, variant, offer, path: implementation_of(
        label, path, offer, functions(variant)))  # fmt: skip


def offered(name: Name, known: Survey, made: Made) -> list[Implementation | Unjudgeable]:
    """Return the implementations of an adapter of which it is known what it offers. Raises LoadError.

    ``made``: makes one, of its name, the variant (None: the module itself), what that offers, and the module's file.
    """
    variants = known.variants
    if name.chosen is not None and (variants is None or name.chosen not in variants):
        there = ", ".join(variants) if variants is not None else "none"
        has = ", ".join(known.own.components)
        raise LoadError(
            f"--impl {name.typed}: {name.target} is an adapter ({has or 'of variants'}), which is judged as a whole; "
            f"it has no variant {name.chosen!r} (variants: {there})"
        )
    suffix = f"@{name.component}" if name.component else ""
    if variants is None:
        return [_only(made(f"{name.target}{suffix}", None, known.own, known.path), name)]
    if not variants:
        wrong = "variants must be a non-empty dict: name -> dict of component functions"
        return [Unjudgeable(name.typed, known.path, wrong)]
    chosen = [name.chosen] if name.chosen is not None else list(variants)
    return [_only(made(f"{name.target}:{v}{suffix}", v, variants[v], known.path), name) for v in chosen]


def _only(implementation: Implementation | Unjudgeable, name: Name) -> Implementation | Unjudgeable:
    """Return the implementation with only the component after "@". Raises LoadError if it lacks that."""
    if name.component is None or isinstance(implementation, Unjudgeable):
        return implementation
    if name.component not in implementation.components:
        has = ", ".join(implementation.components)
        raise LoadError(f"--impl {name.typed}: {name.target} has no component {name.component!r} (it has {has})")
    return replace(implementation, components={name.component: implementation.components[name.component]})


def _without_value(source: Source, wanted: str) -> str:
    """Return why a name of a file has no value: its statement was not run, or failed."""
    return f"{wanted} has no value: {source.absent[wanted]}"


def _no_such(source: Source, wanted: str) -> str:
    """Return why a file has no class or function of this name, with the names that it has."""
    if hasattr(source.module, wanted):
        kind = type(getattr(source.module, wanted)).__name__
        return f"{wanted} is of type {kind}, want a class or a function"
    public = [n for n, v in vars(source.module).items() if inspect.isclass(v) or inspect.isroutine(v)]
    names = source.names() if source.path and source.path.name != "__init__.py" else sorted(public)
    has = f"it has {', '.join(names[:12])}{', …' if len(names) > 12 else ''}" if names else "it defines none"
    return f"it has no class or function {wanted!r}: {has}{hint(wanted, public)}"
