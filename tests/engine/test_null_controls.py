"""What computes nothing passes nothing, but for what it satisfies by definition: listed, each with the reason."""

from functools import cache

import pytest
import torch
from null_implementations import CONTROLS

from attnconf.conformance.chapters.attention.stimuli import DISTINCT
from attnconf.conformance.chapters.contents import all_checks, all_vacuous, check_of
from attnconf.conformance.engine.judge import judge_requirement
from attnconf.conformance.engine.mutant import apply
from attnconf.conformance.engine.requirement import Checked
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.engine.vacuous import EVERYTHING
from attnconf.conformance.run.judging import judge_all
from attnconf.conformance.run.plan import Settings, make_plan
from attnconf.spec import registry

torch.set_num_threads(1)


def allowed(control):
    """Return the (component, requirement, case) that a control may pass."""
    return {
        (p.entry.component, p.entry.requirement, name)
        for p in judged(control).plan.planned
        for entry in all_vacuous()
        if control in entry.controls and p.entry.requirement in entry.requirements.split()
        if p.entry.component in (entry.components or [p.entry.component])
        for name in entry.cases or [case.name for family in p.checked.families for case in family]
    }


@cache
def judged(control):
    """Return the run in which a control was judged."""
    return judge_all(make_plan([CONTROLS[control]], Settings()))


def passed(control):
    run = judged(control)
    return {
        (p.entry.component, p.entry.requirement, case.name)
        for p in run.plan.planned
        for case in run.outcomes[p.id].cases
        if case.outcome == "pass"
    }


@pytest.mark.parametrize("control", CONTROLS)
def test_a_null_implementation_passes_exactly_what_it_satisfies_by_definition(control):
    got, want = passed(control), allowed(control)
    assert not sorted(got - want), "passed without a reason in VACUOUS"
    assert not sorted(want - got), "listed in VACUOUS, but not passed"


@pytest.mark.parametrize("control", CONTROLS)
def test_a_null_implementation_only_passes_or_fails(control):
    outcomes = {case.outcome for judged_ in judged(control).outcomes.values() for case in judged_.cases}
    assert outcomes <= {"pass", "fail"}


@pytest.mark.parametrize("control", CONTROLS)
def test_no_null_implementation_passes_the_umbrella(control):
    run = judged(control)
    umbrellas = [p for p in run.plan.planned if p.entry.requirement.split("-")[1] == "ORACLE"]
    assert umbrellas
    assert {run.outcomes[p.id].outcome for p in umbrellas} == {"fail"}


def test_every_control_is_accounted_for():
    assert set(EVERYTHING) == set(CONTROLS)


def test_the_reference_is_told_from_every_null_implementation():
    subject = Subject(apply([]), "attention", "direct")
    assert judge_requirement(subject, all_checks()["ATT-ORACLE-1"]).outcome == "pass"


def nothing(subject, case):
    yield from ()


def test_a_check_without_evidence_is_an_error():
    silent = Checked(registry.get("CALL-SHAPE-1"), nothing, (DISTINCT,))
    got = judge_requirement(Subject(apply([]), "attention", "direct"), silent)
    assert got.outcome == "error"
    assert "yielded no evidence" in got.message


def test_a_check_without_cases_is_an_error():
    got = judge_requirement(
        Subject(apply([]), "attention", "direct"), check_of("CALL-SHAPE-1", "attention"), select=lambda case: False
    )
    assert (got.outcome, got.message) == ("error", "no case was run")
