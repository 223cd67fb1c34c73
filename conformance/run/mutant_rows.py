"""The rows of the kill matrix: one mutant on one component, judged as if it were an implementation, by every check.

A check is not run on a mutant if the check's calls, on the reference, never enter a function that the mutant replaces:
checks are deterministic, so the outcome is the reference's. The tests compute some such rows all the same.
"""

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial, wraps
from types import FrameType
from typing import Any

from attnconf.adapters.contract import COMPONENTS, Build
from attnconf.conformance.chapters.contents import all_mutants
from attnconf.conformance.chapters.equivalent_mutants import equivalents
from attnconf.conformance.engine.evidence import SEMANTIC_SOURCE
from attnconf.conformance.engine.judge import Judged
from attnconf.conformance.engine.mutant import Mutant, apply, originals, reaches
from attnconf.conformance.engine.request import Implementation
from attnconf.conformance.run.judging import begin
from attnconf.conformance.run.judging import judge_one as judge_planned
from attnconf.conformance.run.plan import Planned, Settings, make_plan
from attnconf.conformance.worker.performing import callable_of
from attnconf.spec import profiles, registry

PROFILE = "full"
REFERENCE = "reference"  # the row without a mutant


@dataclass(frozen=True)
class Effect:
    """The error of a failure at the root in units of its bound, in the case with the largest; None without a number.

    ``source``: where the bound comes from.
    """

    ratio: float | None
    source: str | None


@dataclass(frozen=True)
class Row:
    """The failures of one mutant on one component."""

    mutant: str
    component: str
    judged: tuple[str, ...]  # the requirements that apply
    roots: tuple[str, ...]  # failed, while all presupposed requirements passed
    consequences: tuple[str, ...]  # failed together with a presupposed requirement
    raised: tuple[str, ...]  # failed by an exception in every failing case
    odd: dict[str, str]  # outcomes that no mutant may have: error, unsupported
    effects: dict[str, Effect]  # of the roots

    @property
    def failed(self) -> frozenset[str]:
        return frozenset((*self.roots, *self.consequences))


@dataclass(frozen=True)
class Unharmed:
    """The reference's row for one component, and the functions of the reference that each check enters."""

    row: Row
    entered: Mapping[str, frozenset[str]]  # requirement -> {"module.function", …}

    def comes_out_the_same(self, mutant: Mutant, requirement: str) -> bool:
        """Return whether a check passes on the reference and its calls enter no function that the mutant replaces."""
        untouched = requirement not in self.row.failed and requirement not in self.row.odd
        replaced = {_called(function) for function in mutant.replace}
        return untouched and requirement in self.entered and not self.entered[requirement] & replaced


OfReference = Callable[[str], Unharmed]


def known() -> dict[str, Mutant]:
    """Return the mutants of all chapters and those proved equivalent, by id."""
    return {**all_mutants(), **equivalents()}


@cache
def unharmed(component: str) -> Unharmed:
    """Judge the reference by every check of a component, and note the functions that each check's calls enter.

    Checks that train are left out: they take half a minute, and ``attnconf run --impl reference --profile full`` runs
    them.
    """
    entered: dict[str, frozenset[str]] = {}
    outcomes, noted = {}, set[str]()
    reference = apply([])
    for planned, run in _plan(replace(reference, components=_noting(reference, component, noted)), None):
        if _trains(planned.entry.requirement):
            continue
        noted.clear()
        outcomes[planned.entry.requirement] = run()
        entered[planned.entry.requirement] = frozenset(noted)
    return Unharmed(_row(outcomes, REFERENCE, component), entered)


def rows_of(name: str, kept: Mapping[tuple[str, str], Row], of_reference: OfReference = unharmed) -> list[Row]:
    """Return a mutant's row for each component: kept, or judged, or the reference's if it has no effect there."""

    def row(component: str) -> Row:
        if (name, component) in kept:
            return kept[name, component]
        if name == REFERENCE:
            return of_reference(component).row
        if shows(component, known()[name]):
            return judge_one(name, component, of_reference(component))
        return _copied(known()[name], kept.get((REFERENCE, component)) or of_reference(component).row)

    return [row(component) for component in COMPONENTS]


def shows(component: str, mutant: Mutant) -> bool:
    """Return whether a component reaches a mutant, and is judged by requirements of the mutant's chapter.

    Attention with positions contains attention, but is not judged by attention's requirements.
    """
    return mutant.chapter in chapters(component) and reaches(component, mutant)


@cache
def chapters(component: str) -> frozenset[str]:
    """Return the chapters by whose requirements a component is judged."""
    entries = (*profiles.load(PROFILE).entries, *profiles.load(profiles.THROUGHPUT).entries)
    return frozenset(registry.get(e.requirement).chapter for e in entries if e.component == component)


def _copied(mutant: Mutant, row: Row) -> Row:
    """Return the reference's row under the mutant's name, with only the requirements that the mutant is judged by."""
    kept = tuple(r for r in row.judged if not _costs(r) or _costs(mutant.id))
    return replace(row, mutant=mutant.id, judged=kept)


def judge_one(name: str, component: str, of_reference: Unharmed | None = None) -> Row:
    """Judge one component of a mutant by every check.

    ``of_reference``: if given, checks whose outcome must be the reference's are copied from it.
    Checks that train take seconds: of these, a mutant is judged by those among its ``breaks`` and ``follows`` alone.
    Checks of costs judge the mutants of their own chapter and the reference.
    """
    mutant, outcomes = known()[name], {}
    whole = apply([mutant])
    for planned, run in _plan(replace(whole, components={component: whole.components[component]}), mutant):
        requirement = planned.entry.requirement
        if of_reference is None or not of_reference.comes_out_the_same(mutant, requirement):
            outcomes[requirement] = run()
        elif requirement in of_reference.row.judged:
            outcomes[requirement] = Judged(planned.checked.requirement, "", "pass")
    return _row(outcomes, name, component)


def _plan(implementation: Implementation, mutant: Mutant | None) -> Iterator[tuple[Planned, Callable[[], Judged]]]:
    """Yield the planned checks of a mutant (None: of the reference), each with the function that judges it."""
    run = begin(make_plan([implementation], Settings(profile=PROFILE, throughput="smoke")))
    for planned in run.plan.planned:
        if mutant is None or judged_by(mutant, planned.entry.requirement):
            yield planned, partial(judge_planned, run, planned)


def _noting(reference: Implementation, component: str, names: set[str]) -> dict[str, Build]:
    """Return a component of the reference that adds each function of the reference it enters to ``names``."""
    codes = {function.__code__: _called(function) for function in originals()}

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code in codes:
            names.add(codes[frame.f_code])

    def noted(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def run(*args: Any, **options: Any) -> Any:
            before = sys.getprofile()
            sys.setprofile(note)
            try:
                return function(*args, **options)
            finally:
                sys.setprofile(before)

        return run

    build = noted(reference.components[component])

    @wraps(reference.components[component])
    def built(config: Any, weights: Any) -> Any:
        return noted(callable_of(build(config, weights), component))

    return {component: built}


def _called(function: Any) -> str:
    return f"{function.__module__}.{function.__name__}"


def judged_by(mutant: Mutant, requirement: str) -> bool:
    """Return whether a mutant is judged by a requirement: what is not in the default profile takes seconds."""
    return _is_quick(requirement) or touches(mutant, requirement) or (_costs(mutant.id) and _costs(requirement))


def _is_quick(requirement: str) -> bool:
    return requirement in {entry.requirement for entry in profiles.load(profiles.DEFAULT).entries}


def _trains(requirement: str) -> bool:
    return not _is_quick(requirement) and not _costs(requirement)


def _costs(name: str) -> bool:
    """Return whether a requirement or a mutant is about the cost of a call."""
    return name.startswith("PERF-")


def touches(mutant: Mutant, requirement: str) -> bool:
    """Return whether a mutant claims to make a requirement fail, at the root or in consequence."""
    return requirement in mutant.breaks or requirement in mutant.follows


def _row(outcomes: Mapping[str, Judged], name: str, component: str) -> Row:
    failed = {r: judged for r, judged in outcomes.items() if judged.outcome == "fail"}
    roots = tuple(r for r in failed if not registry.ancestors(r) & failed.keys())
    return Row(
        name,
        component,
        tuple(r for r, judged in outcomes.items() if judged.outcome != "not-applicable"),
        roots,
        tuple(r for r in failed if r not in roots),
        tuple(r for r, judged in failed.items() if _merely_raised(judged)),
        {r: f"{j.outcome}: {j.message}" for r, j in outcomes.items() if j.outcome in ("error", "unsupported")},
        {r: effect(failed[r]) for r in roots},
    )


def _merely_raised(judged: Judged) -> bool:
    reasons = {case.failure.reason for case in judged.cases if case.failure}
    return reasons == {"raised"}


def effect(judged: Judged) -> Effect:
    """Return the largest error of the failing cases, in units of the bound that it broke."""
    effects = [_effect(case.error, case.bound, case.failure.details) for case in judged.cases if case.failure]
    counted = [e for e in effects if e.ratio is not None]
    return max(counted, key=lambda e: e.ratio or 0.0) if counted else Effect(None, None)


def _effect(error: float | None, bound: float | None, details: dict[str, Any]) -> Effect:
    if error is None or bound is None:
        return Effect(None, None)
    source = str(details.get("source", SEMANTIC_SOURCE))
    return Effect(math.inf if math.isnan(error) or not bound else error / bound, source)
