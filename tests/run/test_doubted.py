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
