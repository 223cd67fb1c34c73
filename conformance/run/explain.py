"""Explain a run: look for the mistake behind every failure at the root, and draw pictures of the first ones."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.chapters.contents import all_mutants
from attnconf.conformance.diagnosis.broken_argument import broken_argument
from attnconf.conformance.diagnosis.mistakes import Diagnosis
from attnconf.conformance.diagnosis.not_computed import not_computed
from attnconf.conformance.diagnosis.search import explain
from attnconf.conformance.engine.mutant import Mutant
from attnconf.conformance.pictures.illustrate import Budget, Pictures, illustrate
from attnconf.conformance.run.doubts import doubts
from attnconf.conformance.run.judging import judge_one
from attnconf.conformance.run.plan import Planned, Run, doubted
from attnconf.conformance.run.relate import Relations, relate
from attnconf.spec import profiles


def explain_failures(run: Run) -> None:
    """Add diagnoses and pictures to a run; it may be judged in part."""
    relations = relate(run)
    diagnoses = _of_selection(run, relations) if run.plan.selected else diagnose(run, relations)
    for name, doubt in doubts(run, relations, diagnoses).items():
        run.plan = doubted(run.plan, name, doubt)
    mine = {p.id: p.implementation.binding for p in run.plan.planned}
    run.diagnoses |= {one: d for one, d in diagnoses.items() if not (b := mine[one]) or b.established}
    run.diagnoses |= _of_no_input(run, relations)
    run.explained = True
    run.pictures |= draw(run, relations)


def _of_no_input(run: Run, relations: Relations) -> dict[str, Diagnosis]:
    """Return what is behind the failures of what is not understood, where its output is not computed from its input."""
    found: dict[str, Diagnosis] = {}
    for group in _groups(run):
        binding = group[0].implementation.binding
        if binding and not binding.established:
            judged = [run.outcomes[p.id] for p in group]
            roots = (p for p in group if relations.unexplained(p) and run.counts(p))
            found |= {p.id: d for p in roots if (d := not_computed(judged, run.outcomes[p.id]))}
    return found


def diagnose(run: Run, relations: Relations, asked: Collection[str] = ()) -> dict[str, Diagnosis]:
    """Return the mistakes behind the failures of a run, by the ids of planned checks.

    Innermost components come first: attention before the layers made of it. ``asked``: ids of failures to diagnose
    even if they are consequences.
    """
    diagnoses: dict[str, Diagnosis] = {}
    for group in sorted(_groups(run), key=lambda group: _height(group[0])):
        roots = [p for p in group if relations.unexplained(p) or p.id in asked]
        binding = group[0].implementation.binding
        if binding and not binding.established:
            continue  # a mistake that is reproduced may be one of the reading
        if any(relations.unexplained(p) for p in group):
            diagnoses |= _explained(run, group, roots, _beneath(run, group[0], diagnoses))
    return diagnoses


def _groups(run: Run) -> list[list[Planned]]:
    """Return the judged checks of each component of each implementation."""
    groups: dict[tuple[str, str], list[Planned]] = {}
    for planned in run.plan.planned:
        if planned.id in run.outcomes:
            groups.setdefault((planned.implementation.name, planned.entry.component), []).append(planned)
    return list(groups.values())


def _height(planned: Planned) -> int:
    return COMPONENTS[planned.entry.component].height


def _explained(
    run: Run, group: Sequence[Planned], roots: Sequence[Planned], beneath: list[Mutant]
) -> dict[str, Diagnosis]:
    """Return the mistakes behind the roots of one component, and second mistakes behind its consequences."""
    known = {p.id for p in roots}
    judged = [(p, run.outcomes[p.id]) for p in group]
    others = [p for p, j in judged if j.outcome == "fail" and p.id not in known]
    passed = [j for _, j in judged if j.outcome == "pass"]
    seen = {convention: choice for _, j in judged for convention, choice in j.convention.items()}
    implementation = group[0].implementation
    declares = {**seen, **implementation.declared(group[0].entry.component)}
    failures = [run.outcomes[p.id] for p in roots], [run.outcomes[p.id] for p in others]
    supposed = implementation.binding.mistake if implementation.binding else ""
    diagnoses = explain(*failures, passed, declares, beneath, supposed)
    return {p.id: d for p, d in zip([*roots, *others], diagnoses, strict=True) if d}


def _beneath(run: Run, planned: Planned, diagnoses: Mapping[str, Diagnosis]) -> list[Mutant]:
    """Return the mistakes named in lower components of the same file."""
    lower = [
        diagnoses[p.id]
        for p in run.plan.planned
        if p.id in diagnoses
        and p.implementation.source == planned.implementation.source
        and _height(p) < _height(planned)
    ]
    named = {m.id: m for diagnosis in lower for m in diagnosis.mutants}
    return [m for name, m in named.items() if name in all_mutants()]


def _of_selection(run: Run, relations: Relations) -> dict[str, Diagnosis]:
    """Return the mistakes behind the failures of a selection; other checks are judged too, as one case tells little."""
    mine = [p for p in run.plan.planned if relations.unexplained(p)]
    failing = {(p.implementation.name, p.entry.component) for p in mine}
    asked = {e.requirement for e in profiles.load(profiles.DEFAULT).entries}  # others take minutes
    asked |= {p.entry.requirement for p in run.plan.planned}
    wider = [
        p for p in run.plan.whole
        if (p.implementation.name, p.entry.component) in failing and p.entry.requirement in asked
    ]  # fmt: skip
    settings = replace(run.settings, thorough=False)
    full = Run(replace(run.plan, settings=settings, planned=tuple(wider), whole=(), selected=False))
    for planned in wider:
        judge_one(full, planned)
    diagnoses = diagnose(full, relate(full), {p.id for p in mine})
    return {p.id: diagnoses[p.id] for p in mine if p.id in diagnoses}


def draw(run: Run, relations: Relations) -> dict[str, Pictures]:
    """Return the pictures of the first failures of a MUST at the root, one for each cause."""
    budget, causes, pictures = Budget(), set[tuple[str, ...]](), {}
    for planned in run.plan.planned:
        diagnosis = run.diagnoses.get(planned.id)
        named = tuple(f"{m.id} {m.hint}" for m in diagnosis.mutants) if diagnosis else (planned.id,)
        cause = (planned.implementation.name, planned.entry.component, *named)
        if not relations.unexplained(planned) or cause in causes:  # one picture for each cause
            continue
        causes.add(cause)
        judged = run.outcomes[planned.id]
        binding = planned.implementation.binding
        if broken_argument(judged):  # nothing of it can be followed by hand
            continue
        if run.counts(planned) and (not binding or binding.established):  # else what is shown is a reading
            subject = planned.subject
            cases = planned.checked.cases(subject, run.settings.seed, run.settings.device)
            pictures[planned.id] = illustrate(subject, planned.checked, judged, cases, budget)
    return pictures
