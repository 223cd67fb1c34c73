"""Relate the failures of a run: consequences to their roots, and failures to the known deviations of a library."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from attnconf.conformance.diagnosis.broken_argument import broken_argument
from attnconf.conformance.engine.judge import Judged
from attnconf.conformance.engine.request import Implementation
from attnconf.conformance.loading.deviations import Deviation
from attnconf.conformance.run.plan import Planned, Run
from attnconf.spec import registry

if TYPE_CHECKING:  # imported where throughput is asked for
    from attnconf.conformance.timing.run import Standing


@dataclass(frozen=True)
class Relations:
    """The relations between the failures of a run, by the ids of planned checks."""

    follows_from: Mapping[str, list[str]]  # failure -> the requirements at its root; () for a root
    deviations: Mapping[str, Deviation]  # failure -> the known deviation that accounts for it

    def unexplained(self, planned: Planned) -> bool:
        """Return whether a check failed at the root, and is no known deviation."""
        return self.follows_from.get(planned.id) == [] and planned.id not in self.deviations


def relate(run: Run) -> Relations:
    """Return the relations between the failures of each component of each implementation."""
    groups: dict[tuple[str, str], list[Planned]] = defaultdict(list)
    for planned in run.plan.planned:
        if planned.id in run.outcomes and run.outcomes[planned.id].outcome == "fail":
            groups[planned.implementation.name, planned.entry.component].append(planned)
    follows: dict[str, list[str]] = {}
    deviations: dict[str, Deviation] = {}
    for (name, component), failed in groups.items():
        mine = _roots({p.entry.requirement: run.outcomes[p.id] for p in failed})
        known = {d.requirement: d for d in run.plan.known.get(name, ()) if d.component == component}
        for planned in failed:
            follows[planned.id] = roots = mine[planned.entry.requirement]
            if deviation := _deviation(planned.entry.requirement, roots, known):
                deviations[planned.id] = deviation
    return Relations(follows, deviations)


def _roots(failed: Mapping[str, Judged]) -> dict[str, list[str]]:
    """Return the requirements at the root of each failure: failed ancestors that have no failed ancestor themselves.

    If NaN was compared with NaN, the root is the first such failure; likewise if one argument is broken.
    """
    roots = [name for name in failed if not registry.ancestors(name) & set(failed)]
    first: dict[str, str] = {}
    for name in roots:
        first.setdefault(_shared(failed[name]) or name, name)
    stands_for = {name: first[_shared(failed[name]) or name] for name in roots}
    return {
        name: sorted({stands_for[root] for root in {*registry.ancestors(name), name} & set(roots)} - {name})
        for name in failed
    }


def _shared(judged: Judged) -> str:
    """Return what several failures may have in common: an output that is not finite, a broken argument; else ""."""
    blind = judged.failure and judged.failure.details.get("blind")
    return "not finite" if blind else broken_argument(judged)


def _deviation(requirement: str, roots: Sequence[str], known: Mapping[str, Deviation]) -> Deviation | None:
    """Return the known deviation that accounts for a failure or for its roots."""
    if requirement in known:
        return known[requirement]
    return known[roots[0]] if roots and all(root in known for root in roots) else None


def stale(run: Run) -> list[str]:
    """Return a line for every known deviation whose check passed, though it always should fail."""
    outcomes = defaultdict(set)
    for p in run.plan.planned:
        if p.id in run.outcomes:
            outcomes[p.implementation.name, p.entry.component, p.entry.requirement].add(run.outcomes[p.id].outcome)
    return [
        f"{name}: the known deviation {d.requirement} on {d.component} does not fail any more"
        for name, entries in run.plan.known.items()
        for d in entries
        if not d.sometimes
        and outcomes[name, d.component, d.requirement] & {"fail", "pass"} == {"pass"}
        and not run.plan.selected
    ]


def standing(run: Run, implementation: Implementation, component: str) -> "Standing":
    """Return the MUSTs that a component violates at the root, among the checks judged so far."""
    from attnconf.conformance.timing.run import Standing

    relations = relate(run)
    mine = [p for p in run.plan.planned if p.implementation is implementation and p.entry.component == component]
    failed = [p for p in mine if run.counts(p) and relations.follows_from.get(p.id) == []]
    known = [p.entry.requirement for p in failed if p.id in relations.deviations]
    left_out = any(
        p.implementation is implementation and p.entry.component == component and p.id not in run.outcomes
        and run.plan.counts(p)
        for p in run.plan.whole
    )  # fmt: skip
    return Standing([p.entry.requirement for p in failed if p.entry.requirement not in known], known, left_out)
