"""What is of a kind of its own is judged by a profile that is asked for, through the lens of its kind."""

from attnconf.spec import profiles

OWN = profiles.load("self-attention-1")


def of(profile, component):
    return {(e.lens, e.requirement) for e in profile.entries if e.component == component}


def test_a_profile_that_is_asked_for_keeps_the_lens_and_counts_as_it_does():
    found = profiles.narrowed(profiles.load("production-1"), OWN)
    assert of(found, "multi_head_attention") == of(OWN, "multi_head_attention")
    assert found.counts == {"robust", "precise"}
    assert not profiles.narrowed(profiles.load("inference-1"), OWN).gradients


def test_what_a_profile_does_not_ask_is_not_asked_through_another_lens():
    wanted = profiles.load("core-1")
    asked = {requirement for _, requirement in of(wanted, "multi_head_attention")}
    found = of(profiles.narrowed(wanted, OWN), "multi_head_attention")
    assert (
        found
        == {(lens, r) for lens, r in of(OWN, "multi_head_attention") if r in asked}
        != of(OWN, "multi_head_attention")
    )


def test_components_that_its_own_profile_does_not_know_are_judged_as_asked_for():
    wanted = profiles.load("production-1")
    assert of(profiles.narrowed(wanted, OWN), "rotary") == of(wanted, "rotary") != set()


def test_its_own_profile_is_itself():
    assert profiles.narrowed(OWN, OWN) is OWN
