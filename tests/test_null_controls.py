"""What computes nothing passes nothing, but for what it satisfies by definition: listed, each with the reason."""

from dataclasses import dataclass
from functools import cache

import pytest
import torch
from null_implementations import CONTROLS

from attnconf.conformance.cases import FAMILIES
from attnconf.conformance.checks import Checked, all_checks
from attnconf.conformance.judge import judge
from attnconf.conformance.mutation import apply
from attnconf.conformance.session import Session, Settings
from attnconf.conformance.subject import Subject
from attnconf.spec import registry

torch.set_num_threads(1)

EVERYWHERE = ("attention", "multi_head_attention")
CONSTANT = ("zeros", "ones", "constant")
NUMBERS = (*CONSTANT, "echo", "mean", "uniform")  # the same finite numbers in every call
AVERAGES = ("mean", "uniform")


@dataclass(frozen=True)
class Allowed:
    """Controls that pass requirements by definition: all cases, or those named."""

    controls: tuple[str, ...]
    requirements: str
    reason: str
    components: tuple[str, ...] = EVERYWHERE
    cases: tuple[str, ...] = ()


ALLOWED = [
    Allowed(tuple(CONTROLS), "ATT-SHAPE-1 ATT-DTYPE-1 ATT-EMPTY-1", "shape and dtype are right, whatever the numbers"),
    Allowed(tuple(CONTROLS), "ATT-IMMUT-1", "nothing is written to the inputs"),
    Allowed(
        NUMBERS,
        "ATT-STRIDE-1 ATT-REPEAT-1 ATT-MODE-1 ATT-WEIGHTS-2 ATT-DROP-1",
        "the same values give the same output, whatever the layout, the mode, earlier calls or what else is asked for",
    ),
    Allowed(
        NUMBERS,
        "ATT-BATCH-1 ATT-HEAD-1 ATT-QUERY-1 ATT-KEYS-1",
        "an output row depends on its own query, the mean of its values, or nothing",
    ),
    Allowed(NUMBERS, "ATT-PREC-1", "a constant, and a linear function of one input, is smooth"),
    Allowed(NUMBERS, "ATT-SHIFT-1 ATT-DUPL-1", "no control reads the keys, and the mean of repeated values is theirs"),
    Allowed(("echo", *AVERAGES), "ATT-GRAD-1", "autograd differentiates whatever was computed"),
    Allowed(("zeros", *AVERAGES), "ATT-LINEAR-1", "0 and the mean are linear in the values"),
    Allowed(("ones", *AVERAGES), "ATT-ROWS-1", "V = 1 gives 1"),
    Allowed(AVERAGES, "ATT-CONVEX-1 ATT-SINGLE-1 ATT-LONG-1", "a mean is an average with equal weights"),
    Allowed(
        ("ones", "constant", *AVERAGES),
        "ATT-SCALE-2 ATT-SCALE-3",
        "where no score has an effect, neither has their scale",
        ("attention",),
    ),
    Allowed(("zeros", "uniform"), "ATT-WEIGHTS-1", "the returned weights times V are the output: 0·V, and the mean"),
    Allowed(("zeros",), "ATT-DROP-3", "no weight is kept"),
    Allowed(("uniform",), "ATT-DROP-2 ATT-DROP-3 ATT-ERROR-1", "all but the scores is the reference's"),
    Allowed(("zeros",), "ATT-CONVEX-1", "11 signed values have 0 among them", cases=("uniform-1", "peaked-3")),
    Allowed(("constant",), "ATT-CONVEX-1", "13 signed values have 0.7 among them", cases=("peaked-3",)),
    Allowed(("constant",), "ATT-CONVEX-1", "these 11 have 0.7 among them", EVERYWHERE[1:], ("uniform-1",)),
    Allowed(("echo",), "ATT-CONVEX-1", "near-uniform scores come from queries near 0", cases=("uniform-1",)),
    Allowed(AVERAGES, "ATT-ORACLE-1", "with one key the mean of the values is the answer", cases=("one-key-2",)),
]


def allowed(control):
    """Return the (component, requirement, case) that a control may pass."""
    found = set()
    for entry in ALLOWED:
        for requirement in entry.requirements.split() if control in entry.controls else ():
            names = [case.name for family in all_checks()[requirement].families for case in FAMILIES[family]]
            found |= {(c, requirement, case) for c in entry.components for case in entry.cases or names}
    return found


@cache
def judged(control):
    """Return the session in which a control was judged."""
    session = Session([CONTROLS[control]], Settings())
    session.make_plan()
    for planned in session.plan:
        session.run(planned)
    return session


def passed(control):
    session = judged(control)
    return {
        (p.entry.component, p.entry.requirement, case.name)
        for p in session.plan
        for case in session.outcomes[p.id].cases
        if case.outcome == "pass"
    }


@pytest.mark.parametrize("control", CONTROLS)
def test_a_null_implementation_passes_exactly_what_it_satisfies_by_definition(control):
    got, want = passed(control), allowed(control)
    assert not got - want, "passed without a reason in ALLOWED"
    assert not want - got, "listed in ALLOWED, but not passed"


@pytest.mark.parametrize("control", CONTROLS)
def test_a_null_implementation_only_passes_or_fails(control):
    outcomes = {case.outcome for judged_ in judged(control).outcomes.values() for case in judged_.cases}
    assert outcomes <= {"pass", "fail"}


@pytest.mark.parametrize("control", CONTROLS)
def test_no_null_implementation_passes_the_umbrella(control):
    session = judged(control)
    umbrellas = [p for p in session.plan if p.entry.requirement.split("-")[1] == "ORACLE"]
    assert umbrellas
    assert {session.outcomes[p.id].outcome for p in umbrellas} == {"fail"}


def test_the_reference_is_told_from_every_null_implementation():
    subject = Subject(apply([]), "attention", "direct")
    assert judge(subject, all_checks()["ATT-ORACLE-1"]).outcome == "pass"


def nothing(subject, case):
    yield from ()


def test_a_check_without_evidence_is_an_error():
    silent = Checked(registry.get("ATT-SHAPE-1"), nothing, ("distinct",))
    got = judge(Subject(apply([]), "attention", "direct"), silent)
    assert got.outcome == "error"
    assert "yielded no evidence" in got.message


def test_a_check_without_cases_is_an_error():
    got = judge(Subject(apply([]), "attention", "direct"), all_checks()["ATT-SHAPE-1"], select=lambda case: False)
    assert (got.outcome, got.message) == ("error", "no case was run")
