"""What is put in doubt accuses nobody, of its arguments neither."""

from attnconf.adapters import reference
from attnconf.conformance.engine.request import Binding, Implementation
from attnconf.conformance.run.plan import Settings, doubted, make_plan
from attnconf.conformance.run.verdict import verdicts


def bound(broken):
    binding = Binding("inferred", "attention", broken=broken)
    return Implementation("mine", {"attention": reference.attention}, binding=binding)


def test_an_argument_that_does_not_do_what_it_promises_does_not_conform():
    plan = make_plan([bound(("the argument `cache` of forward has no effect",))], Settings())
    assert [v["verdict"] for v in verdicts(plan, [])] == ["nonconformant"]


def test_but_where_the_binding_is_in_doubt():
    plan = make_plan([bound(("the argument `cache` of forward has no effect",))], Settings())
    assert [v["verdict"] for v in verdicts(doubted(plan, "mine", "why"), [])] == ["incomplete"]


def refusing(passed, refused):
    """Return results of a component that was asked so much, and refused so much more."""
    asked = {"implementation": "mine", "component": "attention", "strength": "MUST", "quality": None, "counts": True,
             "settled": True, "optional": False, "convention": {}, "cases": [{}],
             "message": "a second head"}  # fmt: skip
    names = [*(["pass"] * passed), *(["not-applicable"] * refused)]
    return [{**asked, "outcome": outcome, "requirement": f"ATT-{n}-1"} for n, outcome in enumerate(names)]


def test_what_refuses_most_of_what_it_is_asked_does_not_conform():
    plan = make_plan([bound(())], Settings())
    asked = len(plan.planned)
    for passed, want in ((asked // 2, "conformant"), (asked // 4 - 1, "incomplete")):
        (verdict,) = verdicts(plan, refusing(passed, asked - passed))
        assert verdict["verdict"] == want
        assert verdict["reason"].endswith("most of them for: a second head") == (want == "incomplete")
