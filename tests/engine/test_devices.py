"""What is judged on a device: where its context ends, what is kept from it, and which widths a kernel takes."""

import re

import pytest

from attnconf.conformance.chapters.contents import all_checks
from attnconf.conformance.engine import judge
from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.judge import LOST, judge_requirement, run_case
from attnconf.conformance.engine.requirement import Checked, as_declared
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.run.implementations import load
from attnconf.conformance.run.judging import begin, judge_one
from attnconf.conformance.run.plan import Settings, make_plan

CHECKS = all_checks()


def loaded(name):
    (implementation,) = load(name)
    return implementation


@pytest.fixture
def subject():
    return Subject(loaded("reference"), "attention", "direct")


def test_nothing_is_asked_of_a_device_whose_context_has_ended(subject, monkeypatch):
    monkeypatch.setattr(judge.devices, "is_lost", lambda: True)
    judged = judge_requirement(subject, CHECKS["ATT-SCALE-1"], device="cuda")
    assert (judged.outcome, judged.message, subject.log) == ("unsupported", LOST, [])
    assert judge_requirement(subject, CHECKS["ATT-SCALE-1"]).outcome == "pass"


def test_where_the_context_ends_in_a_check_that_is_no_fault_of_the_suite(subject, monkeypatch):
    def failing(subject, case):
        raise RuntimeError("CUDA error: device-side assert triggered")
        yield

    checked = Checked(CHECKS["ATT-SCALE-1"].requirement, failing, CHECKS["ATT-SCALE-1"].families)
    case = checked.cases(subject, 0, "cpu")[0]
    assert run_case(subject, checked, case).outcome == "error"
    monkeypatch.setattr(judge.devices, "is_lost", lambda: True)
    result = run_case(subject, checked, case)
    assert (result.outcome, result.message) == ("unsupported", LOST)


INDEXING = ("learned", "token_embedding", "sinusoidal", "rotary", "transformer", "language_model")


@pytest.mark.parametrize(
    "name", ["torch_nn", "textbook_modules", "transformers_sinusoidal:marian", "transformers_rotary:gptj"]
)
def test_checks_that_go_beyond_a_table_keep_to_the_cpu(name):
    """There such an index is an exception; a kernel of CUDA ends the context of the whole process."""
    implementation = loaded(name)
    run = begin(make_plan([implementation], Settings()))
    found = set()
    for planned in run.plan.planned:
        if planned.entry.component in INDEXING:
            log, subject = [], planned.subject
            judged = judge_one(run, planned)
            log += [reply for _, reply in (*judged.log, *subject.log) if isinstance(reply, Failure)]
            if any(re.search("IndexError|out of (range|bounds)", failure.message) for failure in log):
                found.add(planned.checked.requirement.id)
    assert found
    assert {name for name in found if not CHECKS[name].out_of_range} == set()


def test_only_what_is_within_a_table_is_asked_of_a_device(subject):
    of = Subject(loaded("reference"), "token_embedding", "direct")
    devices = {
        name: {case.device for case in CHECKS[name].cases(of, 0, "cuda")} for name in ("EMB-BEYOND-1", "EMB-SAMPLE-1")
    }
    assert devices == {"EMB-BEYOND-1": {"cpu"}, "EMB-SAMPLE-1": {"cuda"}}


@pytest.mark.parametrize("component", ["attention", "multi_head_attention"])
def test_a_kernel_that_takes_multiples_of_eight_is_asked_for_them(subject, component):
    subject = Subject(loaded("reference"), component, "direct")
    subject.declares = {**subject.declares, "head-width": "eights"}
    for checked in CHECKS.values():
        for case in (c for family in checked.families for c in family if c.shape.keys or c.shape.head):
            asked = as_declared(case, subject)
            widths = [
                asked.shape.size(w, asked.sizes) for w in (case.shape.keys, case.shape.values, case.shape.head) if w
            ]
            assert not any(width % 8 for width in widths)
            assert all(
                asked.sizes[n] == case.sizes[n]
                for n in case.shape.names
                if n not in (case.shape.keys, case.shape.values, case.shape.head)
            )
