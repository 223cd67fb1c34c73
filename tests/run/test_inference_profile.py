"""The profile inference-1 asks for no gradients, and judges outputs as the default does."""

import pytest

from attnconf.conformance.chapters.contents import all_mutants
from attnconf.conformance.engine.mutant import apply
from attnconf.conformance.run.judging import judge_all
from attnconf.conformance.run.plan import Settings, make_plan, only
from attnconf.conformance.run.record import record

ORACLES = {"attention": "ATT-ORACLE-1", "rms_norm": "RMS-ORACLE-1", "feed_forward": "FF-ORACLE-2"}


def judged(mutants, profile, component, requirement=None):
    plan = make_plan([apply([all_mutants()[m] for m in mutants])], Settings(profile=profile))
    wanted = only(plan, lambda p: p.entry.component == component and requirement in (None, p.entry.requirement))
    content = record(judge_all(wanted))
    return content["verdicts"][0]["verdict"], {r["requirement"]: r["outcome"] for r in content["results"]}


def test_wrong_gradients_are_not_seen_and_wrong_outputs_are():
    detached = next(m.id for m in all_mutants().values() if m.breaks == {"ATT-GRAD-1"})
    assert judged([detached], "core-3", "attention")[0] == "nonconformant"
    verdict, outcomes = judged([detached], "inference-1", "attention")
    assert (verdict, outcomes["ATT-GRAD-1"], outcomes["ATT-ORACLE-1"]) == ("conformant", "not-applicable", "pass")
    assert judged(["ATT-unscaled"], "inference-1", "attention")[0] == "nonconformant"


@pytest.mark.parametrize("component", ORACLES)
def test_of_what_is_compared_in_outputs_and_gradients_the_outputs_are(component):
    assert judged([], "inference-1", component, ORACLES[component])[1] == {ORACLES[component]: "pass"}


def test_nothing_of_the_reference_is_a_fault_of_the_suite():
    for component in ORACLES:
        verdict, outcomes = judged([], "inference-1", component)
        assert verdict == "conformant"
        assert "error" not in outcomes.values()
