"""Doubts that a run casts on a binding: a known mistake certified it, and it fails where that mistake does not."""

from collections.abc import Mapping

from attnconf.conformance.diagnosis.mistakes import Diagnosis
from attnconf.conformance.diagnosis.search import reproduces
from attnconf.conformance.run.plan import OF_ANY_BINDING, Planned, Run
from attnconf.conformance.run.relate import Relations
from attnconf.spec.registry import Requirement

# What a requirement asks beyond the calls of a certificate: how that is taken was found apart from the parameters.
APART = frozenset({"mask", "key-mask", "causal", "bias", "dropout", "weights", "scale"})


def doubts(run: Run, relations: Relations, diagnoses: Mapping[str, Diagnosis]) -> dict[str, str]:
    """Return by the implementation's name why a binding that a known mistake certified is not established after all.

    The parameters were given roles such that the file equals the reference with that mistake. Where it fails in another
    way, and no mistake gives its numbers, they may be something else. There is no doubt where the mistake gives all
    replies of another check that fails.
    """
    unlike: dict[str, list[str]] = {}
    for planned in run.plan.planned:
        if relations.unexplained(planned) and planned.id not in diagnoses and _contradicts(run, planned):
            unlike.setdefault(planned.implementation.name, []).append(planned.entry.requirement)
    for planned in run.plan.planned:
        binding, diagnosis = planned.implementation.binding, diagnoses.get(planned.id)
        if binding and diagnosis and binding.mistake.partition("~")[0] in {m.id for m in diagnosis.mutants}:
            unlike.pop(planned.implementation.name, None)
    words = "the mistake with which it is bound does not explain"
    return {name: f"{words} {', '.join(ids)}" for name, ids in unlike.items()}


def _contradicts(run: Run, planned: Planned) -> bool:
    """Return whether a failure in numbers is not that of the mistake which certified the binding."""
    judged, binding = run.outcomes[planned.id], planned.implementation.binding
    if not binding or not binding.established or not binding.mistake or not run.counts(planned):
        return False
    if judged.reason not in OF_ANY_BINDING or not judged.log or is_apart(judged.requirement):
        return False
    return not reproduces(binding.mistake, judged, _spoken(run, planned))


def _spoken(run: Run, planned: Planned) -> dict[str, str]:
    """Return the conventions in which the mistake answers: those that were seen, and those that are declared."""
    of, component = planned.implementation, planned.entry.component
    mine = [p for p in run.plan.planned if p.implementation is of and p.entry.component == component]
    seen = {c: choice for p in mine if p.id in run.outcomes for c, choice in run.outcomes[p.id].convention.items()}
    return {**seen, **of.declared(component)}


def is_apart(requirement: Requirement) -> bool:
    """Return whether a requirement is about something else than what the parameters are."""
    return requirement.chapter in ("masks", "calls") or bool(APART & requirement.needs)
