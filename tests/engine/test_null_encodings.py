"""Encodings that compute nothing pass nothing, but for what they satisfy by definition, each with its reason."""

from functools import cache

import pytest
import torch
from null_encodings import CONTROLS, ENCODINGS

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.chapters.contents import all_checks, all_vacuous, check_of
from attnconf.conformance.engine.judge import Judged, judge_requirement
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.engine.vacuous import EVERYTHING
from attnconf.spec import profiles

torch.set_num_threads(1)

# Every check of an encoding, with those that train: an entry without a check is a MAY.
ASKED = [
    (entry.component, entry.requirement)
    for entry in profiles.load("full").entries
    if entry.component in ENCODINGS and entry.requirement in all_checks()
]

VACUOUS = all_vacuous()


def allowed(control):
    """Return the (component, requirement) that a control may pass."""
    return {
        (component, requirement)
        for entry in VACUOUS
        if control in entry.controls
        for component, requirement in ASKED
        if requirement in entry.requirements.split() and component in (entry.components or ENCODINGS)
    }


@cache
def judged(control) -> dict[tuple[str, str], Judged]:
    """Return what came out for a control, by (component, requirement)."""
    subjects = {component: Subject(CONTROLS[control], component, "direct") for component in ENCODINGS}
    return {(c, requirement): judge_requirement(subjects[c], check_of(requirement, c)) for c, requirement in ASKED}


@pytest.mark.parametrize("control", CONTROLS)
def test_a_null_encoding_passes_exactly_what_it_satisfies_by_definition(control):
    got, want = {asked for asked, one in judged(control).items() if one.outcome == "pass"}, allowed(control)
    assert not sorted(got - want), "passed without a reason in VACUOUS"
    assert not sorted(want - got), "listed in VACUOUS, but not passed"


@pytest.mark.parametrize("control", CONTROLS)
def test_a_null_encoding_only_passes_or_fails(control):
    assert {one.outcome for one in judged(control).values()} == {"pass", "fail"}


@pytest.mark.parametrize("control", CONTROLS)
def test_no_null_encoding_passes_an_umbrella(control):
    umbrellas = {asked: one.outcome for asked, one in judged(control).items() if "ORACLE" in asked[1]}
    assert umbrellas
    assert set(umbrellas.values()) == {"fail"}


@pytest.mark.parametrize("control", CONTROLS)
def test_nothing_is_learned_from_a_null_encoding(control):
    assert judged(control)["fourier", "FOUR-LEARN-1"].outcome == "fail"


def test_every_entry_says_why_and_is_of_use():
    for entry in VACUOUS:
        assert entry.reason
        assert entry.requirements
        assert set(entry.controls) <= set(EVERYTHING)
        assert set(entry.requirements.split()) <= set(all_checks())
        assert set(entry.components) <= set(COMPONENTS)


@pytest.mark.parametrize("component", ENCODINGS)
def test_every_component_is_told_from_its_null_implementations(component):
    for control in CONTROLS:
        assert "fail" in {one.outcome for (c, _), one in judged(control).items() if c == component}
