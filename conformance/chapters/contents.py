"""What the chapters have, found by their names: checks, mutants, and of each component calls, looks and costs."""

import importlib
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from attnconf.conformance.chapters.calls.stimuli import Laws
from attnconf.conformance.chapters.shared.appearance import Appearance
from attnconf.conformance.engine.catalogue import modules
from attnconf.conformance.engine.mutant import Mutant
from attnconf.conformance.engine.request import Reply, Request
from attnconf.conformance.engine.requirement import Checked
from attnconf.conformance.engine.vacuous import Vacuous
from attnconf.spec import courses, registry

if TYPE_CHECKING:  # which draw blocks, and are read where something is counted or timed
    from attnconf.conformance.chapters.shared.cost import Cost, Timed


@cache
def all_checks() -> dict[str, Checked]:
    """Return the checks of all chapters by requirement id.

    Raises SpecError for an unknown id, or where two checks claim one requirement.
    """
    found: dict[str, Checked] = {}
    for chapter in registry.CHAPTERS.values():
        for module, value in ((m, value) for m in _modules(chapter, "checks") for value in vars(m).values()):
            checked = getattr(value, "checked", None)
            if isinstance(checked, Checked) and value.__module__ == module.__name__:
                if checked.requirement.id in found:
                    raise registry.SpecError(
                        f"{checked.requirement.id} has two checks, {value.__name__} is one of them"
                    )
                found[checked.requirement.id] = checked
    return found


@cache
def all_mutants() -> dict[str, Mutant]:
    """Return the mutants of all chapters by id.

    Raises SpecError where a mutant names a requirement that is not in the spec, or two have one id.
    """
    found: dict[str, Mutant] = {}
    for chapter in registry.CHAPTERS.values():
        for value in (value for module in _modules(chapter, "mutants") for value in vars(module).values()):
            if isinstance(value, Mutant):
                if value.id in found:
                    raise registry.SpecError(f"two mutants are called {value.id}")
                for name in (*value.breaks, *value.raises, *value.follows):
                    _known(value, name)
                found[value.id] = value
    return found


def _modules(chapter: str, room: str) -> list[ModuleType]:
    """Return a chapter's modules of checks or mutants, in their order."""
    package = courses.PACKAGE if registry.of_course(chapter) else f"attnconf.conformance.chapters.{chapter}"
    return [importlib.import_module(f"{package}.{module.replace('/', '.')}") for module in modules(chapter, room)]


def all_vacuous() -> list[Vacuous]:
    """Return what the chapters say that an implementation which computes nothing satisfies by definition."""
    found = (module for chapter in registry.CHAPTERS.values() for module in _modules(chapter, "mutants"))
    return [entry for module in found for entry in getattr(module, "VACUOUS", ())]


def _collected(room: str, table: str) -> dict[str, Any]:
    """Return what the tables of all chapters that have such a room list by component, in the order of the chapters."""
    found: dict[str, Any] = {}
    for chapter in registry.CHAPTERS.values():
        if not registry.of_course(chapter) and (Path(__file__).parent / chapter / f"{room}.py").exists():
            found |= getattr(importlib.import_module(f"attnconf.conformance.chapters.{chapter}.{room}"), table)
    return found


@cache
def calls() -> dict[str, Laws]:
    """Return by component the calls with which the laws of every call are judged, by law."""
    return _collected("calls", "CALLS")


@cache
def check_of(requirement: str, component: str) -> Checked:
    """Return the check of a requirement as a component is judged by it: a law of every call has the chapter's cases.

    Raises SpecError for what has no check, or a law for which the component's chapter gives no calls.
    """
    checked = all_checks().get(requirement)
    if checked is None:
        raise registry.SpecError(f"{requirement} has no check")
    if checked.requirement.chapter != "calls":
        return checked
    trials = calls().get(component, {}).get(requirement)
    if trials is None:
        raise registry.SpecError(f"{requirement} has no calls of {component}: its chapter lists none in calls.py")
    return replace(checked, families=trials.families)


@cache
def appearances() -> dict[str, Appearance]:
    """Return by component what it looks like in somebody's file."""
    return _collected("binding", "APPEARANCES")


@cache
def meanings() -> dict[str, Callable[[Reply, Request], Reply]]:
    """Return by component what of its replies has a meaning, of those where not all of it has."""
    return _collected("meaning", "MEANINGS")


@cache
def costs() -> "dict[str, Cost]":
    """Return by component what a call costs, of those of which it is counted."""
    return _collected("cost", "COSTS")


def timed(component: str) -> "Timed":
    """Return how a component is timed. Raises KeyError for one that is not."""
    found = costs()[component].timed
    if found is None:
        raise KeyError(component)
    return found


@cache
def with_variants(name: str) -> tuple[Mutant, ...]:
    """Return a mutant and the same mistake with other constants, whose names go on: "ATT-clamped~2"."""
    mutant = all_mutants()[name]
    others = (replace(mutant, id=f"{name}~{i}", replace=v, variants=()) for i, v in enumerate(mutant.variants, 2))
    return (mutant, *others)


def named(name: str) -> Mutant:
    """Return a mutant, or one of its variants, by name."""
    return next(mutant for mutant in with_variants(name.split("~")[0]) if mutant.id == name)


def plain(mutant: Mutant) -> Mutant:
    """Return the mutant of which this is a variant, or itself."""
    return all_mutants().get(mutant.id.split("~")[0], mutant)


def _known(mutant: Mutant, name: str) -> None:
    try:
        registry.get(name)
    except registry.SpecError as error:
        raise registry.SpecError(f"mutant {mutant.id}: {error}") from None
